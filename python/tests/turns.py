"""Long sweeps over alike cases, of which tools/check runs a part for each commit (docs/design/testing.md). As a plugin of
pytest (-p turns), of every four tests one."""

import os


def of_turn(cases, parts):
    """Those whose turn it is: with FOURTUNE_TEST_TURN=K/N, of every `parts` cases one, from number K on; without it all."""
    turn = os.environ.get("FOURTUNE_TEST_TURN")
    return list(cases)[int(turn.split("/")[0]) % parts::parts] if turn else list(cases)


def pytest_collection_modifyitems(config, items):
    all_of_them, items[:] = list(items), of_turn(items, 4)
    chosen = set(items)
    config.hook.pytest_deselected(items=[one for one in all_of_them if one not in chosen])
