"""The page of ``zeropoint explain --html``: where things are drawn, and that a browser shows it as meant."""

from __future__ import annotations

import html.parser
import itertools
import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeropoint.frontends import load
from zeropoint.runtime.explain import explain
from zeropoint.runtime.explanation import Explanation
from zeropoint.tools.demo import NETWORK
from zeropoint.tools.explain_page import page
from zeropoint.tools.explain_text import differences
from zeropoint.tools.graph_layout import LANE, MARGIN, NODE_HEIGHT, NODE_WIDTH, Layout, layered

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PROFILES = ("tflite", "pytorch-xnnpack", "float-islands-demo")
SHARED = Path(__file__).resolve().parents[3] / "shared" / "models"
MEASURE = (Path(__file__).resolve().parents[1] / "data" / "measure_page.js").read_text(encoding="utf-8")


def boxes_of(layout: Layout) -> list[tuple[float, float, float, float]]:
    return [(p.x, p.y, p.x + NODE_WIDTH, p.y + NODE_HEIGHT) for p in layout.nodes]


def assert_well_drawn(layout: Layout) -> None:
    """No two boxes meet, everything is inside, no edge runs through a box."""
    by_column: dict[float, list[float]] = {}
    for point in layout.nodes:
        by_column.setdefault(point.x, []).append(point.y)
    for column in by_column.values():
        assert all(b - a > NODE_HEIGHT for a, b in itertools.pairwise(sorted(column)))
    assert all(b - a > NODE_WIDTH for a, b in itertools.pairwise(sorted(by_column)))
    for left, top, right, bottom in boxes_of(layout):
        assert left >= MARGIN
        assert right <= layout.width - MARGIN
        assert 0 < top < bottom < layout.height
    for line in layout.lines:
        for a, b in itertools.pairwise(line.points):
            if b.x - a.x == NODE_WIDTH:  # it passes a column
                assert a.y == b.y
                assert not any(
                    y - LANE / 2 < a.y < y + NODE_HEIGHT + LANE / 2 for y in by_column.get(a.x, ())
                )


@given(st.integers(1, 60), st.integers(0, 2**32), st.floats(0.02, 1.0), st.sampled_from([300, 800, 1360]))
@settings(max_examples=60, deadline=None)
def test_layout_of_random_graphs(count: int, seed: int, nearness: float, width: int) -> None:
    generator = random.Random(seed)
    edges = [
        (max(0, target - 1 - int(generator.expovariate(nearness))), target)
        for target in range(1, count)
        for _ in range(generator.randrange(3))
    ]
    layout = layered(edges, [str(node) for node in range(count)], width, late=[0])
    assert_well_drawn(layout)
    assert layout.width <= max(width, 2 * MARGIN + NODE_WIDTH)
    ends = {(line.source, line.target) for line in layout.lines if line.is_arrow}
    assert ends <= set(edges)
    if not any(label.text.startswith(("to ", "from ")) for label in layout.labels):
        assert ends == set(edges)


@pytest.mark.parametrize(
    "edges",
    [
        [(i, i + 1) for i in range(2999)] + [(i, i + 4) for i in range(0, 2990, 4)],
        [(i, j) for i in range(2999) for j in (i + 1, min(2999, i + 40))],
        [(0, i) for i in range(1, 2999)] + [(i, 2999) for i in range(1, 2999)],
        [(i, 2999 - i) for i in range(1500)] + [(i, i + 1) for i in range(2999)],
    ],
    ids=["residual", "dense", "wide", "nested"],
)
def test_layout_of_3000_nodes(edges: list[tuple[int, int]]) -> None:
    layout = layered(edges, [str(node) for node in range(3000)], 1360)
    assert len(layout.nodes) == 3000
    assert_well_drawn(layout)


class Elements(html.parser.HTMLParser):
    """The tags of a page with their attributes; checks that they are closed in order."""

    VOID = ("meta", "br", "rect", "path")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def explanations() -> dict[str, Explanation]:
    model = load(NETWORK)
    return {name: explain(model, name) for name in PROFILES}


@pytest.mark.parametrize("profile", PROFILES)
def test_page_is_complete_and_needs_nothing_else(explanations: dict[str, Explanation], profile: str) -> None:
    explanation = explanations[profile]
    text = page(explanation)
    elements = Elements(text).found
    operations = [a for tag, a in elements if tag == "g" and (a.get("class") or "").startswith("op ")]
    there = [row for row in explanation.rows if row.after is not None]
    assert [a["id"] for a in operations] == [f"node-{row.label}" for row in there]
    ids = {a["id"] for _, a in elements if "id" in a}
    links = [a["href"] or "" for tag, a in elements if tag == "a"]
    assert len(links) == 2 * len(there)
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in elements}
    addresses = set(re.findall(r"(?:https?:)?//[^\s\"'<]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}, "the namespace only"
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {"#arrow"}


def test_page_escapes_names(explanations: dict[str, Explanation]) -> None:
    import dataclasses

    name = "<b>&\"'</b>"
    row = dataclasses.replace(explanations["tflite"].rows[0], tensor=name)
    odd = dataclasses.replace(
        explanations["tflite"],
        model=name,
        inputs=(name,),
        output_names=(name,),
        rows=(row, *explanations["tflite"].rows[1:]),
    )
    text = page(odd)
    Elements(text)
    assert "<b>&" not in text
    assert "&lt;b&gt;&amp;" in text


def test_page_says_what_another_target_would_do(explanations: dict[str, Explanation]) -> None:
    a, b = explanations["tflite"], explanations["pytorch-xnnpack"]
    text = page(a, "pytorch-xnnpack", differences(a, b))
    Elements(text)
    assert "<h2>What pytorch-xnnpack would do</h2>" in text
    assert "same-as-input: gives i8 (0.0331104, -128)" in text
    assert "The same as tflite" in page(a, "tflite", differences(a, a))


def measured(text: str, folder: Path) -> dict[str, object]:
    """What the browser measures of the page; skips where there is no browser that starts."""
    if BROWSER is None:
        pytest.skip("no chromium: the page is not looked at in a browser")
    file = folder / "page.html"
    body = f'<pre id="measured"></pre><script>{MEASURE}</script></body>'
    file.write_text(text.replace("</body>", body), encoding="utf-8")
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --window-size=1400,1000 --dump-dom"
    )
    command = [BROWSER, *flags.split(), f"--user-data-dir={folder / 'profile'}", file.as_uri()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"{BROWSER} does not start: {error}")
    found = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None
    result: dict[str, object] = json.loads(html.unescape(found[1]))
    return result


@pytest.mark.parametrize("profile", PROFILES)
def test_browser_shows_every_op_and_no_text_leaves_its_box(
    explanations: dict[str, Explanation], profile: str, tmp_path: Path
) -> None:
    explanation = explanations[profile]
    found = measured(page(explanation), tmp_path)
    assert found["title"] == f"digits_int8.tflite for {profile}"
    assert found["ops"] == explanation.totals.ops_after
    assert found["rows"] == len(explanation.rows)
    assert found["broken"] == [], "texts outside of boxes, boxes on each other, a page wider than the window"


def test_browser_shows_a_large_network(tmp_path: Path) -> None:
    file = SHARED / "mobilenet_v2_1.0_224_quant.tflite"
    if not file.is_file():
        pytest.skip(f"{file.name} is not there")
    explanation = explain(load(file), "glow")
    found = measured(page(explanation), tmp_path)
    assert found["ops"] == 66
    assert found["broken"] == []
