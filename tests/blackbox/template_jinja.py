"""usage: template_jinja.py DRIVER [SEED [COUNT]] - our templates against Jinja2, on templates made by chance.

The driver (template_driver.c) and Jinja2 render the same templates with the same values; every output must be the same
bytes. Where MiniJinja, whose language ours is, differs from Jinja2 on purpose, Jinja2 is told to do the same (`printed`),
or the generator keeps away: values other than texts and whole numbers beside `~` and in `join`, floats with an exponent,
lists as text, the division of negative numbers, chained comparisons, methods, a top-level `set` seen in a block.
"""

import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Tap  # noqa: E402

import jinja2  # noqa: E402
import jinja2.compiler  # noqa: E402
import jinja2.nodes  # noqa: E402

SEED, COUNT = 20260504, 800

CONTEXT = {
    "n": 7, "zero": 0, "neg": -3, "half": 0.5, "yes": True, "no": False, "nil": None, "word": "Hello World",
    "empty": "", "html": "<a href=\"x\">it's & that</a>", "wide": "公司 Grüße Ωmega", "lines": "one\ntwo\n\nthree  ",
    "ints": [3, 1, 2, 2, 5], "words": ["pear", "Apple", "fig", "apple", "kiwi"], "none_at_all": [],
    "people": [
        {"name": "Ada", "age": 36, "tags": ["x", "y"], "boss": {"name": "Eve"}},
        {"name": "bob", "age": 19, "tags": [], "boss": {"name": "Ada"}},
        {"name": "Cy", "age": 36, "tags": ["z"], "boss": {"name": "eve"}},
    ],
    "map": {"b": 1, "a": 2, "C": 3},
    "tree": [{"v": 1, "kids": [{"v": 2, "kids": []}, {"v": 3, "kids": [{"v": 4, "kids": []}]}]}, {"v": 5, "kids": []}],
}

LIBRARY = {
    "part": "[part {{ n }}{% if item is defined %} {{ item }}{% endif %}]\n",
    "macros": "{% macro twice(x, sep='-') %}{{ x }}{{ sep }}{{ x }}{% endmacro %}{% set answer = 42 %}",
    "base": "<top>{% block head %}H{{ n }}{% endblock %}|{% block body %}base {{ word }}{% endblock %}</top>",
    "middle": "{% extends 'base' %}{% block head %}M({{ super() }}){% endblock %}",
}


class Maker:
    """Templates by chance; every kind of expression says what kind of value it has."""

    def __init__(self, chance):
        self.chance = chance
        self.names = []

    def any(self, *makers):
        return self.chance.choice(makers)()

    def pick(self, *texts):
        return self.chance.choice(texts)

    def dash(self):
        return self.pick("", "", "", "", "-", "+") if self.chance.random() < 0.5 else ""

    def whole(self, depth=2):
        if depth <= 0:
            return self.pick("n", "zero", "neg", "1", "42", "ints[0]", "people[1].age", "map.a", "map['b']")
        inner = lambda: self.whole(depth - 1)
        return self.any(
            inner, inner, lambda: f"({inner()} + {inner()})", lambda: f"({inner()} - {inner()} * 2)",
            lambda: f"{self.list(0)}|length", lambda: f"{inner()}|abs", lambda: f"({inner()}|abs) % 5",
            lambda: f"({inner()}|abs) // 3", lambda: f"{self.numbers(depth - 1)}|sum", lambda: f"'{self.pick('12', ' 7', 'x')}'|int",
            lambda: f"({inner()} if {self.truth(depth - 1)} else {inner()})", lambda: f"{self.text(depth - 1)}|wordcount",
            lambda: f"people|map(attribute='age')|list|{self.pick('max', 'min', 'first', 'last')}",
            lambda: f"missing|default({inner()})", lambda: f"2 ** {self.pick('0', '3', '10')}", lambda: f"-{inner()}")

    def real(self):
        return self.pick("half", "half + 1", "7 / 2", "0.25 * 2", "n / 4", "1.5|round", "2.71828|round(2)", "3.0", "half|float",
                         "2.25|round(1, 'floor')", "'0.5'|float", "'x'|float(0.5)")

    def text(self, depth=2):
        if depth <= 0:
            return self.pick("word", "empty", "html", "wide", "lines", "'lit'", '"q\\"s\\n"', "people[0].name", "words[-1]",
                             "people[2].boss.name", "'a' 'b'", "word[1:4]", "wide[::-1]", "word[:-3]", "word[0]")
        inner = lambda: self.text(depth - 1)
        return self.any(
            inner, inner, lambda: f"{inner()}|{self.pick('upper', 'lower', 'capitalize', 'title', 'trim', 'string')}",
            lambda: f"({inner()} ~ {self.whole(0)})", lambda: f"({inner()} ~ ' ' ~ {inner()})", lambda: f"({inner()} + {inner()})",
            lambda: f"{inner()}|replace('l', 'L')", lambda: f"{inner()}|replace('e', '3', 1)",
            lambda: f"{self.words(depth - 1)}|join({self.pick('', chr(39) + ', ' + chr(39), chr(39) + '<' + chr(39))})",
            lambda: f"people|join('/', attribute='name')", lambda: f"({inner()} ~ 'x')|{self.pick('first', 'last')}",
            lambda: f"{inner()}|indent({self.pick('', '2', '3, true', 'width=1, blank=true')})",
            lambda: f"{inner()}|truncate({self.pick('5, true, end=chr', '8, false', '6, true, leeway=0', '9').replace('chr', chr(39) + '~' + chr(39))})",
            lambda: f"{inner()}|default('d', true)", lambda: f"missing|default({inner()})", lambda: f"({inner()} * 2)",
            lambda: f"({inner()} if {self.truth(depth - 1)} else {inner()})", lambda: f"({inner()} or {inner()})",
            lambda: f"{inner()}|escape", lambda: f"{inner()}|safe", lambda: f"{inner()}|striptags", lambda: f"{inner()}|urlencode",
            lambda: f"(words + {self.words(depth - 1)}|list)|{self.pick('first', 'last')}", lambda: f"{inner()}|reverse", lambda: f"{inner()}|e|safe")

    def numbers(self, depth=1):
        if depth <= 0:
            return self.pick("ints", "[1, 2, 3]", "range(4)", "range(5, 1, -2)", "none_at_all", "(4, 5)", "ints[1:]", "ints[::2]")
        inner = lambda: self.numbers(depth - 1)
        return self.any(
            inner, lambda: f"{inner()}|list|sort", lambda: f"{inner()}|sort(reverse=true)", lambda: f"{inner()}|reverse|list",
            lambda: f"{inner()}|unique|list", lambda: f"{inner()}|select('{self.pick('odd', 'even')}')|list",
            lambda: f"{inner()}|reject('gt', 2)|list", lambda: f"({inner()}|list + [9])", lambda: f"{inner()}|map('abs')|list",
            lambda: "people|map(attribute='age')|list", lambda: f"({inner()}|list)[{self.pick('1:', ':-1', '::-1', '-2:')}]",
            lambda: "people|selectattr('tags')|map(attribute='age')|list")

    def words(self, depth=1):
        if depth <= 0:
            return self.pick("words", "['b', 'a']", "map", "none_at_all", "'a,b,,c'|list", "words[:2]")
        inner = lambda: self.words(depth - 1)
        return self.any(
            inner, lambda: f"{inner()}|sort", lambda: f"{inner()}|sort(case_sensitive=true)", lambda: f"{inner()}|unique|list",
            lambda: f"{inner()}|map('upper')|list", lambda: f"{inner()}|list|reverse|list", lambda: "people|map(attribute='boss.name')|list",
            lambda: "people|sort(attribute='age')|map(attribute='name')|list",
            lambda: "people|rejectattr('age', 'equalto', 36)|map(attribute='name')|list", lambda: f"{inner()}|select('ne', 'fig')|list",
            lambda: "people|selectattr('age', 'gt', 20)|map(attribute='name')|list")

    def list(self, depth=1):
        return self.any(lambda: self.numbers(depth), lambda: self.words(depth), lambda: "people", lambda: "map", lambda: "word")

    def truth(self, depth=2):
        if depth <= 0:
            return self.pick("yes", "no", "nil", "zero", "n", "empty", "word", "missing", "ints", "none_at_all", "true", "False")
        inner = lambda: self.truth(depth - 1)
        return self.any(
            inner, lambda: f"not {inner()}", lambda: f"({inner()} and {inner()})", lambda: f"({inner()} or {inner()})",
            lambda: f"({self.whole(depth - 1)} {self.pick('==', '!=', '<', '<=', '>', '>=')} {self.whole(depth - 1)})",
            lambda: f"({self.text(depth - 1)} {self.pick('==', '!=', '<')} {self.text(depth - 1)})",
            lambda: f"({self.whole(0)} {self.pick('in', 'not in')} {self.numbers(depth - 1)})",
            lambda: f"('{self.pick('a', 'l', 'pear')}' {self.pick('in', 'not in')} {self.any(lambda: self.words(0), lambda: self.text(0))})",
            lambda: f"({self.whole(0)} is {self.pick('', 'not ')}{self.pick('odd', 'even', 'number', 'divisibleby 3', 'divisibleby(2)')})",
            lambda: f"({self.pick('missing', 'n', 'nil', 'map.zz', 'ints', 'word', 'map')} is {self.pick('', 'not ')}"
                    f"{self.pick('defined', 'undefined', 'none', 'string', 'mapping', 'iterable')})",
            lambda: f"({self.pick('word', 'empty', 'wide')} is {self.pick('lower', 'upper')})",
            lambda: f"({self.whole(0)} is {self.pick('eq', 'ne', 'lt', 'ge')} {self.pick('2', '(7)')})")

    def shown(self):
        """An expression that both engines print alike."""
        return self.any(self.whole, self.text, self.text, self.real, lambda: self.truth(1), lambda: self.pick("nil", "missing", "map.zz"),
                        lambda: f"{self.list(1)}|list|tojson|length > 0")

    def space(self):
        return self.pick("", "", " ", "\n", "  \n", "\n\n", "\n  ", "\t")

    def tag(self, inside):
        return f"{{%{self.dash()} {inside} {self.pick('', '', '-')}%}}"

    def piece(self, depth):
        if depth <= 0 or self.chance.random() < 0.45:
            return self.any(
                lambda: self.pick("text", "some words", "{ }", "a } b", "é", "% {") + self.space(),
                lambda: f"{{{{{self.pick('', '', '-')} {self.shown()} {self.pick('', '', '-')}}}}}" + self.space(),
                lambda: f"{{{{ {self.shown()} }}}}", lambda: f"{{#{self.dash()} a comment {{{{ x }}}} {self.pick('', '-')}#}}" + self.space())
        body = lambda: self.body(depth - 1)
        return self.any(
            lambda: self.tag(f"if {self.truth()}") + body() + self.tag("endif"),
            lambda: self.tag(f"if {self.truth()}") + body() + self.tag(f"elif {self.truth()}") + body() + self.tag("else") + body() + self.tag("endif"),
            lambda: self.tag(f"for x in {self.numbers()}") + "{{ x }}" + self.loop() + body() + self.tag("endfor"),
            lambda: self.tag(f"for x in {self.words()}") + "{{ x }}" + self.loop() + self.tag("else") + body() + self.tag("endfor"),
            lambda: self.tag(f"for p in people if p.age {self.pick('<', '>=')} 30") + "{{ p.name }}" + self.loop() + self.tag("endfor"),
            lambda: self.tag(f"for k, v in map|{self.pick('dictsort', 'items', 'dictsort(by=' + chr(39) + 'value' + chr(39) + ')')}") + "{{ k }}={{ v }}" + self.loop() + self.tag("endfor"),
            lambda: self.tag("for g in people|groupby('age')") + "{{ g[0] }}:{{ g[1]|map(attribute='name')|join }};" + self.tag("endfor"),
            lambda: self.tag(f"for row in {self.numbers()}|{self.pick('batch(2)', 'batch(3, 0)', 'slice(2)', 'slice(3, 0)')}") + "{{ row|join('-') }};" + self.tag("endfor"),
            lambda: self.tag("for t in tree recursive") + "{{ t.v }}{{ loop.depth }}({{ loop(t.kids) }})" + self.tag("endfor"),
            lambda: self.tag(f"set v{self.chance.randrange(3)} = {self.shown()}") + "{{ v0 }}{{ v1 }}" + self.space(),
            lambda: self.tag("set v2") + body() + self.tag("endset") + "{{ v2 }}",
            lambda: self.tag(f"with a = {self.text()}, b = {self.whole()}") + "{{ a }}{{ b }}" + body() + self.tag("endwith"),
            lambda: self.tag(f"filter {self.pick('upper', 'trim', 'replace(' + chr(39) + 'e' + chr(39) + ', ' + chr(39) + 'E' + chr(39) + ')', 'lower|trim')}") + body() + self.tag("endfilter"),
            lambda: self.tag("macro m(a, b=2)") + "<{{ a }},{{ b }}>" + body() + self.tag("endmacro") + f"{{{{ m({self.whole()}) }}}}{{{{ m(1, b={self.text()}) }}}}",
            lambda: "{% macro w(t) %}{{ t }}:{{ caller() }}{% endmacro %}{% call w(" + self.text() + ") %}" + body() + "{% endcall %}",
            lambda: "{% raw %}{{ not }} {% this %}{% endraw %}" + self.space(),
            lambda: "{% set ns = namespace(c=0) %}{% for x in ints %}{% set ns.c = ns.c + x %}{% endfor %}{{ ns.c }}",
            lambda: self.tag(self.pick("include 'part'", "include ['nothing', 'part']", "include 'nothing' ignore missing")),
            lambda: "{% import 'macros' as lib %}{{ lib.twice(" + self.text() + ") }}{{ lib.answer }}",
            lambda: "{% from 'macros' import twice as t2, answer %}{{ t2(n, sep='+') }}{{ answer }}",
            lambda: self.tag("autoescape " + self.pick("true", "false")) + body() + self.tag("endautoescape"))

    def loop(self):
        return self.any(
            lambda: self.pick("", " "), lambda: "{{ loop.index }}{{ loop.index0 }}", lambda: "{{ loop.revindex }}{{ loop.revindex0 }}",
            lambda: "{% if not loop.last %}, {% endif %}", lambda: "{{ loop.first }}{{ loop.last }}", lambda: "{{ loop.length }}",
            lambda: "{{ loop.cycle('odd', 'even') }}", lambda: "{{ loop.previtem is defined }}{{ loop.nextitem is defined }}",
            lambda: "{{ loop.changed(loop.index // 2) }}")

    def body(self, depth):
        return "".join(self.piece(depth) for _ in range(self.chance.randrange(1, 4)))

    def source(self):
        if self.chance.random() < 0.15:
            return (f"{{% extends '{self.pick('base', 'middle')}' %}}ignored {{{{ n }}}}{{% block {self.pick('head', 'body')} %}}"
                    + self.body(1) + self.pick("", "{{ super() }}") + "{% endblock %}")
        return self.body(3) + self.space()

    def case(self):
        return {"source": self.source(), "context": CONTEXT, "templates": LIBRARY, "escape": self.chance.random() < 0.5,
                "trim": self.chance.random() < 0.3, "lstrip": self.chance.random() < 0.3}


def printed(value):
    """What MiniJinja prints for values that Jinja2 shows as Python does."""
    if value is None:
        return "none"
    if value is True or value is False:
        return str(value).lower()
    return value


class Generator(jinja2.compiler.CodeGenerator):
    """Prints constants through `printed`, too."""

    def _output_child_to_const(self, node, frame, finalize):
        if not isinstance(node, jinja2.nodes.TemplateData):
            raise jinja2.nodes.Impossible()
        return super()._output_child_to_const(node, frame, finalize)


jinja2.Environment.code_generator_class = Generator


def by_jinja(case):
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(case["templates"]), autoescape=case["escape"], trim_blocks=case["trim"],
        lstrip_blocks=case["lstrip"], finalize=printed)
    return environment.from_string(case["source"]).render(case["context"])


def main():
    driver, seed, count = sys.argv[1], int((sys.argv + [SEED])[2]) if len(sys.argv) > 2 else SEED, \
        int(sys.argv[3]) if len(sys.argv) > 3 else COUNT
    maker = Maker(random.Random(seed))
    cases = [maker.case() for _ in range(count)]
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    answers = subprocess.run([driver], input=lines, text=True, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    different, compared = [], 0
    for case, line in zip(cases, answers):
        ours = json.loads(line)
        try:
            theirs = {"output": by_jinja(case)}
        except Exception as error:  # whatever Jinja2 refuses, we must refuse too
            theirs = {"error": f"{type(error).__name__}: {error}"}
        compared += "output" in theirs
        if ours.get("output") != theirs.get("output"):
            flags = [key for key in ("escape", "trim", "lstrip") if case[key]]
            different.append(f"{flags} {case['source']!r}\n    ours   {ours}\n    Jinja2 {theirs}")
    with Tap() as tap:
        tap.ok(len(answers) == count, f"every one of {count} templates is answered")
        tap.ok(compared > count * 0.9, "nearly all of them render", f"{compared} of {count}")
        tap.ok(not different, "each renders as Jinja2 renders it", f"{len(different)} differ\n" + "\n".join(different[:20]))


main()
