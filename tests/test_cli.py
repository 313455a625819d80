"""The commands, run as a user runs them."""

import json
import subprocess
import sys

import pytest


def hedgerow(*arguments):
    command = [sys.executable, "-c", "from hedgerow.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=250)


@pytest.mark.parametrize("method", ["compare", "radix1", "radix2", "radix3"])
def test_bench_sort_prints_one_json_object(method):
    done = hedgerow("bench", "sort", "--rows", "500", "--bits", "9", "--method", method, "--json")
    facts = json.loads(done.stdout)
    assert facts["correct"] is True
    assert facts["seconds"] > 0
    assert facts["rounds"] > 0
    assert len(facts["bytes_sent"]) == len(facts["peak_rss_mb"]) == 3
    assert min(facts["bytes_sent"]) > 0


def test_a_wide_area_network_costs_its_delays():
    done = hedgerow("bench", "sort", "--rows", "20", "--bits", "8", "--network", "wan", "--json")
    facts = json.loads(done.stdout)
    assert facts["seconds"] >= 0.02 * facts["rounds"]


def test_bench_primitives_keeps_the_promises():
    done = hedgerow("bench", "primitives", "--count", "20000", "--repeat", "1", "--json")
    rows = {row["name"]: row for row in json.loads(done.stdout)["primitives"]}
    assert rows["top bit of 64"]["bytes_per_item_and_party"] <= 30
    assert rows["less-than 63 bits (2^64)"]["bytes_per_item_and_party"] <= 14.1
    assert rows["small rounds, plain TCP"]["rounds_per_second"] > 0


def test_demo_shows_a_right_result():
    done = hedgerow("demo")
    assert done.returncode == 0
    assert "equal to the plaintext result: yes" in done.stdout


def test_help_teaches_and_mistakes_are_one_line():
    assert "three" in hedgerow("--help").stdout
    assert "--network" in hedgerow("bench", "sort", "--help").stdout
    wrong = hedgerow("bench", "sort", "--rows", "0")
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
