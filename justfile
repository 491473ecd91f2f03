# What CI and pre-commit run. `just` alone lists the recipes.

default:
    @just --list

# everything that must hold before a commit
check: lint types contracts tests quality

# style, and what a linter can know
lint:
    ruff format --check
    ruff check

types:
    mypy

# imports run one way
contracts:
    lint-imports

# some tests, with branch coverage
test *arguments:
    pytest --cov --cov-branch --cov-report=term {{arguments}}

# all tests, with branch coverage: those that wait for Postgres beside the others, in about the same time
tests:
    #!/usr/bin/env bash
    set -uo pipefail
    rm -rf build/coverage && mkdir -p build/coverage
    beside="tests/api tests/contract tests/stores tests/walls tests/worker tests/migration tests/property/test_hostile_input.py"
    COVERAGE_FILE=build/coverage/.coverage.beside pytest --cov --cov-branch --cov-report= --cov-fail-under=0 $beside > build/coverage/beside.log 2>&1 &
    running=$!
    # In the foreground: what runs in the background does not hear Ctrl-C, and that is tested too.
    COVERAGE_FILE=build/coverage/.coverage.here pytest --cov --cov-branch --cov-report= --cov-fail-under=0 $(printf -- '--ignore=%s ' $beside)
    here=$?
    wait $running
    there=$?
    cat build/coverage/beside.log
    if [ $here != 0 ] || [ $there != 0 ]; then exit 1; fi
    coverage combine build/coverage
    coverage report

# bring the code into shape
fmt:
    ruff format
    ruff check --fix

# pin the newest versions that fit pyproject.toml (needs uv)
pin:
    uv pip compile pyproject.toml --extra local --extra server --extra dev --extra telemetry --extra bench --group dev --universal --python-version 3.11 --generate-hashes --no-header --upgrade --quiet --output-file requirements/dev.txt
    uv pip compile pyproject.toml --extra server --extra local --extra telemetry --constraint requirements/dev.txt --universal --python-version 3.11 --generate-hashes --no-header --upgrade --quiet --output-file requirements/server.txt
    echo 'hatchling>=1.27' | uv pip compile - --constraint requirements/dev.txt --universal --python-version 3.11 --generate-hashes --no-header --upgrade --quiet --output-file requirements/build.txt

model := env("RECOLLECT_MODELS_FOLDER", "../shared/models") / "all-MiniLM-L6-v2"
sets := env("RECOLLECT_DATASETS", "../shared/datasets")

# whether recall is still as good as the committed baseline, on a subset with real embeddings
quality: _subset
    recollect bench gate ci benchmarks/baseline --not-worse --work build/bench --measure nDCG@10 --measure R@10

# make that baseline anew, after a change that is better
baseline: _subset
    mkdir -p benchmarks/baseline
    cp build/bench/runs/ci/manifest.json build/bench/runs/ci/queries.jsonl.gz benchmarks/baseline/

_subset:
    python benchmarks/subset.py {{sets}} build/datasets
    recollect bench run --set realmem --set precisionmembench --arm default --model {{model}} --datasets build/datasets --work build/bench --name ci --fresh

# the figures of the README and of docs/decisions (needs the evaluation sets, see CONTRIBUTING; takes an hour)
bench:
    recollect bench run --model {{model}} --datasets {{sets}} --arm lexical --arm dense --arm seeds --arm seeds-our-words --arm rrf --arm convex --arm default --arm no-newest --arm random-importance
    recollect bench run --model {{model}} --datasets {{sets}} --arm rrf --with rrf.k=5 --with weight.dense=2
    recollect bench run --model {{model}} --datasets {{sets}} --arm no-spread --arm spread-names --arm spread-terms --arm spread-links --arm seeds-graph --arm seeds-graph-base
    recollect bench run --model {{model}} --datasets {{sets}} --set musique_train100 --arm triples --arm spread-relations --arm spread-all
    recollect bench run --model {{model}} --datasets {{sets}} --set musique_train100_lower --set musique_dev200_lower --set hotpotqa_dev200_lower --set 2wiki1000_lower --arm default --arm no-spread
    recollect bench run --model {{model}} --datasets {{sets}} --arm lexical --arm default --set exact
    recollect bench inject --model {{model}} --datasets {{sets}} --plot docs/decisions/0015-floor.svg
    recollect bench sweep --model {{model}} --datasets {{sets}} --grid rrf
    recollect bench sweep --model {{model}} --datasets {{sets}} --grid convex
    recollect bench report --markdown bench.md
    python benchmarks/speed.py
    python benchmarks/spread.py
    python benchmarks/cold_start.py
    python benchmarks/hook.py
