"""Pass options from text, the splitter of pipelines, and running ours and upstream's passes together."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sample_passes import RAN, FailPass, RecordPass, fold_nothing
from zeropoint.dialect.context import new_context, parse_module
from zeropoint.errors import PipelineError
from zeropoint.passes import registry
from zeropoint.passes.pass_manager import build_pass_manager, run_pipeline
from zeropoint.passes.pipeline_text import Step, parse_pass_list, parse_pipeline
from zeropoint.passes.pipelines import LEVELS, PIPELINES, passes_to
from zeropoint.passes.upstream import RECOMMENDED


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for cls in (RecordPass, FailPass):
        monkeypatch.setitem(registry.PASSES, cls.name, cls)
    RAN.clear()


def module() -> Any:
    return parse_module(
        "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %a : i32\n}"
    )


def test_options_of_every_type() -> None:
    text = "across-concat limit=7 ratio=1e-3 target='a b' mode=fast sizes=1,2,3 maybe=4"
    assert RecordPass.from_options(text) == RecordPass(True, 7, 1e-3, "a b", "fast", (1, 2, 3), 4)
    assert RecordPass.from_options("") == RecordPass()
    assert RecordPass.from_options("across-concat=false sizes={4,5}  ") == RecordPass(sizes=(4, 5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limits=1", "pass 'test-record': no option 'limits'; did you mean 'limit'?"),
        ("zzz", "pass 'test-record': no option 'zzz' (it has: across-concat, limit"),
        ("limit=x", "pass 'test-record': option 'limit': got 'x', expected an integer"),
        ("limit", "option 'limit': a value is missing"),
        ("ratio=fast", "option 'ratio': got 'fast', expected a number"),
        ("across-concat=yes", "option 'across-concat': got 'yes', expected true or false"),
        ("mode=exakt", "option 'mode': got 'exakt', expected one of fast, exact; did you mean 'exact'?"),
        ("sizes=1,b", "option 'sizes': got 'b', expected an integer"),
        ("target='a", "' is not closed"),
        ("=3", "an option without a name"),
    ],
)
def test_wrong_options(text: str, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        RecordPass.from_options(text)
    assert message in str(caught.value)


def test_required_option() -> None:
    with pytest.raises(PipelineError, match="pass 'test-fail': option 'how' is required"):
        FailPass.from_options("")


@given(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text("abc xyz-_", max_size=8),
    st.lists(st.integers(), max_size=4),
)
def test_text_of_a_pass_reads_back(
    concat: bool, limit: int, ratio: float, target: str, sizes: list[int]
) -> None:
    original = RecordPass(concat, limit, ratio, target, sizes=tuple(sizes))
    (step,) = parse_pass_list(original.text())
    assert step.name == "test-record"
    assert RecordPass.from_options(step.options) == original


def test_summary_is_the_first_paragraph() -> None:
    assert RecordPass.summary() == "Remember that it ran, with the options."


def test_pass_lists() -> None:
    assert parse_pass_list("") == []
    assert parse_pass_list(" a , b{x=1 y='}'} ") == [Step("a"), Step("b", "x=1 y='}'")]
    nested = parse_pass_list("func.func(a,scf.for(b{z={1}})),c")
    assert nested == [Step("a", "", ("func.func",)), Step("b", "z={1}", ("func.func", "scf.for")), Step("c")]
    assert nested[1].text() == "func.func(scf.for(b{z={1}}))"


def test_whole_pipelines() -> None:
    assert parse_pipeline("builtin.module(a,func.func(b))") == [Step("a"), Step("b", "", ("func.func",))]
    assert parse_pipeline(" any( a ) ") == [Step("a")]
    assert parse_pipeline("builtin.module()") == []


@pytest.mark.parametrize(
    "text",
    [
        "a,",
        ",a",
        "a b",
        "a(b",
        "a)b",
        "a{x",
        "a}",
        "a{x}{y}",
        "(a)",
        "{x}",
        "a(b)c",
        "a{x='}",
        "a,,b",
        "a(" * 999,
    ],
)
def test_malformed_pass_lists_show_where(text: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pass_list(text)
    assert str(caught.value).startswith("pipeline: ")
    assert str(caught.value).endswith("^")


@pytest.mark.parametrize("text", ["a", "func.func(a)", "builtin.module(a),b", ""])
def test_pipelines_need_an_anchor(text: str) -> None:
    with pytest.raises(PipelineError):
        parse_pipeline(text)


@given(st.text("ab,(){}' =", max_size=12))
def test_no_text_crashes_the_splitter(text: str) -> None:
    try:
        steps = parse_pass_list(text)
    except PipelineError:
        return
    assert parse_pass_list(",".join(step.text() for step in steps)) == steps


def test_ours_and_upstream_run_together() -> None:
    m = module()
    run_pipeline(m, "test-record{limit=1},canonicalize,func.func(cse),test-record{limit=2}")
    assert [p.limit for p in RAN if isinstance(p, RecordPass)] == [1, 2]
    assert "arith.addi" not in str(m)
    run_pipeline(m, ["cse", "test-record"])
    assert RAN[-1] == RecordPass()


def test_function_passes_are_nested_by_themselves() -> None:
    run_pipeline(module(), "affine-scalrep")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("canonicalise", "unknown pass 'canonicalise'; did you mean 'canonicalize'?"),
        ("test-rekord", "unknown pass 'test-rekord'; did you mean 'test-record'?"),
        ("qqqqq", "unknown pass 'qqqqq'"),
        ("func.func(test-record)", "pass 'test-record' works on the whole module"),
        ("cse,canonicalize{foo=1}", "pass 'canonicalize': no such option foo"),
        ("scf.for(affine-scalrep)", "pass 'affine-scalrep': can't add pass"),
    ],
)
def test_wrong_pipelines_are_found_before_anything_runs(text: str, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        build_pass_manager(parse_pass_list(f"test-record,{text}"), new_context())
    assert message in str(caught.value)
    assert not RAN


def test_failing_passes() -> None:
    with pytest.raises(PipelineError, match=r"^this network cannot be done$"):
        run_pipeline(module(), "test-fail{how=raise},test-record")
    with pytest.raises(PipelineError, match="this function cannot be done"):
        run_pipeline(module(), "test-fail{how=diagnose},test-record")
    with pytest.raises(PipelineError, match="sym_name"):
        run_pipeline(module(), "test-fail{how=break},test-record")
    with pytest.raises(ZeroDivisionError):
        run_pipeline(module(), "test-fail{how=bug},test-record")
    assert not RAN, "nothing runs after a failure"


def test_observers_see_every_step() -> None:
    class Observer:
        def __init__(self) -> None:
            self.seen: list[str] = []

        def before_step(self, index: int, step: Step, module: Any) -> None:
            self.seen.append(f"before {index} {step.name} {'addi' in str(module)}")

        def after_step(self, index: int, step: Step, module: Any) -> None:
            self.seen.append(f"after {index} {step.name} {'addi' in str(module)}")

    m, observer = module(), Observer()
    build_pass_manager(parse_pass_list("cse,test-record"), m.context, observers=[observer]).run(m.operation)
    assert observer.seen == [
        "before 0 cse True",
        "after 0 cse False",
        "before 1 test-record False",
        "after 1 test-record False",
    ]


def test_every_recommended_pass_exists() -> None:
    build_pass_manager(parse_pass_list(",".join(RECOMMENDED)), new_context())


def test_every_pass_of_ours_loads() -> None:
    assert set(registry.PASS_NAMES) <= set(registry.load_all())


def test_lookup_of_unknown_names() -> None:
    assert registry.lookup("canonicalize") is None
    assert registry.lookup("../errors") is None


def test_levels() -> None:
    assert passes_to("qnn") == ()
    everything = passes_to("llvm")
    assert passes_to("linalg") == everything[: len(passes_to("linalg"))]
    assert passes_to("linalg") + passes_to("llvm", start="linalg") == everything
    assert set(PIPELINES) == {"reference", "optimized"}
    assert LEVELS == ("qnn", "legalized", "formed", "linalg", "kernels", "llvm")
    with pytest.raises(PipelineError, match=r"unknown level 'linlg'; did you mean 'linalg'"):
        passes_to("linlg")
    with pytest.raises(PipelineError, match="unknown pipeline 'optimised'; did you mean 'optimized'"):
        passes_to("qnn", "optimised")


def test_no_match_says_why_when_asked(caplog: pytest.LogCaptureFixture) -> None:
    m = module()
    op = m.body.operations[0]
    assert fold_nothing(op)
    assert not caplog.records
    with caplog.at_level(logging.DEBUG, "zeropoint.passes"):
        assert fold_nothing(op)
    assert "fold_nothing: no match: func.func at line 1, column 1: the type changes" in caplog.text
    assert "the type changes" in caplog.text
