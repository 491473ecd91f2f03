"""Which sentences are meant to last, and which are not."""

import time

import pytest

from recollect.core.learning import Turn, learn_from_turns

LASTING = {
    "Remember: our CI runners have only 4 GB of memory.": "Our CI runners have only 4 GB of memory.",
    "please remember the frontend talks to the gateway on port 8081 in development.": (
        "The frontend talks to the gateway on port 8081 in development."
    ),
    "keep in mind that Safari 15 is still supported": "Safari 15 is still supported.",
    "don\u2019t forget the invoices service is written in Kotlin, not Java.": (
        "The invoices service is written in Kotlin, not Java."
    ),
    "going forward, name branches after the Jira ticket.": "Going forward, name branches after the Jira ticket.",
    "in this project we write all docs in British English": "In this project we write all docs in British English.",
    "For future reference: the sandbox of the payment provider resets every Sunday night.": (
        "The sandbox of the payment provider resets every Sunday night."
    ),
    "Heads up, the legacy API will be shut down in June 2027.": "The legacy API will be shut down in June 2027.",
    "I prefer composition over inheritance in the domain layer.": (
        "I prefer composition over inheritance in the domain layer."
    ),
    "I'd rather have one big test than ten tiny ones": "I'd rather have one big test than ten tiny ones.",
    "never commit directly to main": "Never commit directly to main.",
    "don't ever use floats for money": "Don't ever use floats for money.",
    "I hate wildcard imports.": "I hate wildcard imports.",
    "please stop adding docstrings to private helpers": "Please stop adding docstrings to private helpers.",
    "Use ruff rather than flake8 and black.": "Use ruff rather than flake8 and black.",
    "I prefer polars over pandas for large files, can you rewrite the loader with it?": (
        "I prefer polars over pandas for large files."
    ),
    "one thing to remember: the qa environment is wiped every night": "The qa environment is wiped every night.",
    "our naming convention is snake_case for columns": "Our naming convention is snake_case for columns.",
    "we never deploy on Fridays": "We never deploy on Fridays.",
    "we agreed to support Python 3.11 and later only.": "We agreed to support Python 3.11 and later only.",
    "let's stick with Vue 3 for the admin because the team knows it": (
        "Let's stick with Vue 3 for the admin because the team knows it."
    ),
    "we're going to keep the monolith until the billing rewrite is done": (
        "We're going to keep the monolith until the billing rewrite is done."
    ),
    "No, the timeout is in seconds, not in milliseconds.": "The timeout is in seconds, not in milliseconds.",
    "that's not right. The tenant id comes from the subdomain, not from the header.": (
        "The tenant id comes from the subdomain, not from the header."
    ),
    "npm is what we started with. from now on use pnpm for every package, e.g. in the web folder": (
        "From now on use pnpm for every package, e.g. in the web folder."
    ),
}

PASSING = (
    "remember to close the file",
    "can you remember what the port was?",
    "remember this?",
    "Note the failing assertion above.",
    "add a note that the API is deprecated to the README",
    "I always forget how rebase works",
    "I never really knew how that works on Windows",
    "I want to make sure that the cache is always up to date",
    "please use the existing helper instead of writing a new one",
    "stop using emojis in this answer",
    "we agreed to meet at 4",
    "from now on it works",
    "I never got it to work on Windows",
    "he always breaks the build",
    "the tests always fail on my machine",
    "it should always be sorted",
    "never mind, I found it",
    "let's use it",
    "let's keep going for another hour",
    "let's use the second approach for this since it is simpler",
    "I prefer that",
    "use this instead of that",
    "please use a set instead of a list here",
    "don't use print in this file",
    "we'll see",
    "I will use my lunch break for this",
    "I think we should use Kafka",
    "maybe we should always validate input?",
    "what if we use Redis instead of Memcached?",
    "we decided that yesterday",
    "I decided to go home for today",
    "no, that's fine",
    "no, the other one",
    "actually, can you also add a test?",
    "actually the test passes now",
    "the build is red, not green",
    "fix the bug where users are logged out",
    "I want you to rename the function",
    "stop the server please",
    "remember that",
    "remember: x",
    "remember that " + "the cache is warm and " * 40,
    'she told me "from now on always use tabs"',
    "ok. ok. ok.",
    "",
)


def learn(text: str) -> list[str]:
    return [each.content for each in learn_from_turns([Turn("assistant", "It is 5432."), Turn("user", text)])]


@pytest.mark.parametrize("text", LASTING)
def test_what_is_to_last_is_learned(text: str) -> None:
    """Requests, preferences, decisions and corrections are learned in the words in which they were said."""
    assert learn(text) == [LASTING[text]]


@pytest.mark.parametrize("text", PASSING)
def test_what_passes_is_not(text: str) -> None:
    """Tasks, questions, doubts, complaints, and what means nothing alone are not learned."""
    assert learn(text) == []


def test_an_agents_wishes_are_nobodys() -> None:
    """Of what an agent says only what it found out is learned."""
    said = [*LASTING, "The root cause was that the pool had 5 connections while gunicorn starts 8 workers."]
    learned = learn_from_turns([Turn("assistant", "\n\n".join(said))])
    assert [each.content for each in learned] == [said[-1]]


def test_the_same_is_learned_once() -> None:
    """What is said twice in a conversation, in whatever case, is one thing."""
    turns = [Turn("user", "Never deploy on Fridays."), Turn("user", "never deploy on fridays")]
    assert len(learn_from_turns(turns)) == 1


def test_what_was_injected_is_not_learned_from_anybody() -> None:
    """Text that a hook gave is not learned, whoever repeats it; what differs from it is."""
    given = "<recalled-memory>\n[0000a001 | facts | yesterday]\nDeploys run on Tuesdays at 10.\n</recalled-memory>"
    for turn in (Turn("injected", given), Turn("user", given)):
        turns = [turn, Turn("user", "Remember that deploys run on Tuesdays at 10.")]
        assert learn_from_turns(turns) == []
        other = [turn, Turn("user", "Remember that deploys run on Tuesdays at 11.")]
        assert [each.content for each in learn_from_turns(other)] == ["Deploys run on Tuesdays at 11."]


def test_a_block_without_an_end_hides_the_rest() -> None:
    """A block that was cut off is taken to go on to the end of the turn."""
    assert learn("<recalled-memory>\nRemember that deploys run on Tuesdays at 10.") == []
    assert learn("<system-reminder>\nRemember that deploys run on Tuesdays at 10.") == []


def test_a_turn_that_is_not_to_be_kept() -> None:
    """A turn that says so teaches nothing."""
    asked = "Never deploy on Fridays."
    for refused in (
        "Don't remember this.",
        "no need to save that",
        "This is off the record.",
        "lol",
        "Please don't add this to memory.",
        "Don't put that into your memory, please.",
        "Do not record this.",
        "Don't learn from this.",
        "Keep this between us.",
        "This is strictly confidential!",
        "Nothing of this should be remembered.",
        "Please forget what I just said.",
    ):
        assert learn(f"{asked} {refused}") == []
        assert learn(f"{refused} {asked}") == []
    for harmless in (
        "I always forget to write that down.",
        "Don't forget it.",
        "Don't put this in a class.",
        "Confidential data is sent by courier.",
    ):
        assert learn(f"{asked} {harmless}")[0] == asked


def test_pasted_text_teaches_nothing() -> None:
    """Code, quotations, logs, other people's words and long pastes are not what the user says."""
    asked = "Never deploy on Fridays."
    for pasted in (
        f"```\n{asked}\n```",
        f"> {asked}",
        f"    {asked}",
        f"| rule | {asked} |",
        f"2026-03-02 10:11:12 {asked}",
        f'"""\n{asked}\n"""',
        f"Jonas wrote in the channel:\n\n{asked}",
        f"The docs say this:\n{asked}",
        f"The linter complains: {asked}",
        f"Somebody on the list recommends this: {asked}",
        f"Translate to German: {asked}",
        f"Please rewrite this sentence: {asked}",
        f"Can you fix the grammar: {asked}",
        f"Summarize:\n\n{asked}",
        f"Change the heading to: {asked}",
        "x" * 3000 + f"\n\n{asked}\n\n" + "y" * 4000,
    ):
        assert learn(pasted) == []
    assert learn(f"> some quotation\n\n{asked}") == [asked]


def test_a_list_of_things_to_remember() -> None:
    """The items of a list that is asked to be remembered are learned one by one, and only those."""
    items = "- Dates are in UTC everywhere.\n- Money is in cents."
    text = f"Please remember the following:\n\n{items}\n\n- Fix the cart page now."
    assert learn(text) == ["Dates are in UTC everywhere.", "Money is in cents."]


@pytest.mark.parametrize("line", ["std::vector<int> values = parse<Record>(input);", "<li>an item<br>", " "])
def test_a_long_paste_takes_no_time(line: str) -> None:
    """What looks like tags that never end, hundreds of kilobytes of it, is read once and not once a tag."""
    began = time.process_time()
    assert learn(f"Never deploy on Fridays.\n\n{line * (300_000 // len(line))}") == ["Never deploy on Fridays."]
    assert learn(line * 7000) == []
    assert time.process_time() - began < 5
