# What CI and pre-commit run. `just` alone lists the recipes.

default:
    @just --list

# everything that must hold before a commit
check: lint types contracts test

# style, and what a linter can know
lint:
    ruff format --check
    ruff check

types:
    mypy

# imports run one way
contracts:
    lint-imports

# all tests, with branch coverage
test *arguments:
    pytest --cov --cov-branch --cov-report=term {{arguments}}

# bring the code into shape
fmt:
    ruff format
    ruff check --fix

# pin the newest versions that fit pyproject.toml (needs uv)
pin:
    uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-header --upgrade --quiet --output-file requirements/dev.txt

# the figures of the README (needs the evaluation sets, see CONTRIBUTING)
bench:
    python benchmarks/lexical_quality.py
    python benchmarks/speed.py
    python benchmarks/cold_start.py
