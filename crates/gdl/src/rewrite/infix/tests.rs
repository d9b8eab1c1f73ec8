use ggp_stop::Stop;

use super::*;
use crate::rewrite::{Layout, Tree, laid_out};
use crate::span::{Source, Sources};
use crate::syntax::{SyntaxLimits, read};

fn infix(kif: &str) -> String {
    let sources = Sources::from(Source::new("t", kif));
    let (forms, _) = read(&sources, SyntaxLimits::default());
    assert!(unwritable(&forms).is_empty());
    let stop = Stop::new();
    to_infix(&Tree::read(&sources, SyntaxLimits::default(), &stop).expect("right"))
}

/// The forms as KIF, or the findings with their places.
fn kif(infix: &str) -> String {
    let source = Source::new("t", infix);
    let stop = Stop::new();
    match from_infix(&source, SyntaxLimits::default(), &stop) {
        Ok(tree) => laid_out(&tree, Layout { width: 200 }, &stop),
        Err(findings) => {
            let sources = Sources::from(source.clone());
            let finding = |finding: &crate::diagnostic::Diagnostic| {
                let (line, column) = sources.line_column(finding.span.expect("a place"));
                format!("{}@{line}:{column}", finding.code)
            };
            findings.iter().map(finding).collect::<Vec<_>>().join(" ")
        }
    }
}

fn check(forms: &str, text: &str) {
    assert_eq!(infix(forms), text);
    assert_eq!(kif(text), forms);
}

#[test]
fn rules_are_converted_and_restored() {
    check(
        "(role white)\n(p)\nterminal\n",
        "role(white)\np()\nterminal\n",
    );
    check(
        "(<= (legal ?w (mark ?x ?y))\n    (true (cell ?x ?y b))\n    (not over))\n",
        "legal(W,mark(X,Y)) :-\n  true(cell(X,Y,b)) &\n  ~over\n",
    );
    check("(<= terminal\n    (line x))\n", "terminal :- line(x)\n");
    check("(<= p)\n(q)\n", "p :- .\nq()\n");
    check(
        "(<= p\n    (or (not (and a b)) (or c d) (or e) (not (not f)))\n    (and a b)\n    (not g h))\n",
        "p :-\n  (~(a & b) | (c | d) | or(e) | ~~f) &\n  (a & b) &\n  not(g,h)\n",
    );
    check("(<= p\n    (and a b))\n", "p :- (a & b)\n");
    check("(p (not a) (or b c))\n", "p(not(a),or(b,c))\n");
}

#[test]
fn any_name_is_restored() {
    check(
        "(p map+ N -1 - + it's a\\b -x 007 _a É)\n",
        "p('map+','N',-1,'-','+','it\\'s','a\\\\b','-x',007,'_a','É')\n",
    );
    check(
        "(<= (p ?x ?X ?_x ?_X ?_ ? ?1 ?x+ ?rowA)\n    ?x)\n",
        "p(X,_X,_x,?'_X',?'_',?'',?'1',?'x+',RowA) :- X\n",
    );
    assert_eq!(kif("p('it''s')"), "(p it's)\n");
    assert_eq!(infix("(ROLE White)"), "role('White')\n");
}

#[test]
fn other_spellings_are_read() {
    assert_eq!(kif("p :- a | b & c."), "(<= p\n    (or a (and b c)))\n");
    assert_eq!(kif("p:-a,b.q."), "(<= p\n    a\n    b)\nq\n");
    assert_eq!(kif("p :- (a)\nq (x , y)"), "(<= p\n    a)\n(q x y)\n");
    assert_eq!(kif("p(_,_1) :- q(_)"), "(<= (p ?_2 ?_1)\n    (q ?_3))\n");
}

#[test]
fn comments_are_converted_and_restored() {
    check(
        "; head\n\n;; two\n(a)  ; behind\n(<= b\n    ; before\n    (c)  ; of c\n    (d))  ; of d\n; end\n",
        "% head\n\n%% two\na()  % behind\nb :-\n  % before\n  c() &  % of c\n  d()  % of d\n% end\n",
    );
    check("(a)  ;% odd\n", "a()  ;% odd\n");
    // Two adjacent comments remain two comments.
    let text = infix("(<= a b\n ; end\n) ; after\n(c)");
    assert_eq!(text, "a :-\n  b\n  % end\n  % after\nc()\n");
    assert_eq!(kif(&text), "(<= a\n    b)\n; end\n; after\n(c)\n");
    assert_eq!(infix("(a ; x\n (b ; y\n c))"), "% x\n% y\na(b(c))\n");
    assert_eq!(kif("a(b, % x\n c)"), "(a b  ; x\n   c)\n");
}

#[test]
fn errors_have_places() {
    assert_eq!(kif("p(a\nq(b)"), "K007@2:1");
    assert_eq!(kif("p(a"), "K001@1:2");
    assert_eq!(kif("p(a))\nq(X"), "K002@1:5 K001@2:2");
    assert_eq!(kif("p :- & q\nr :- s |\n"), "K007@1:6 K007@2:8");
    assert_eq!(kif("p('a b')\nq('x"), "K007@1:3 K007@2:3");
    assert_eq!(kif("(<= p q)"), "K007@1:1");
    for (text, place) in [
        ("legal(P,noop) :- role(P) done", "1:26"),
        ("c :- not b", "1:6"),
        ("c :- a & not b.", "1:10"),
        ("c :- a and b", "1:8"),
        ("c :- a ~b", "1:8"),
        ("c :- (a | b) 'd+'", "1:14"),
        ("c :- a :- b", "1:8"),
        ("  c :-\n    a\n    % and\n    b", "4:5"),
    ] {
        assert_eq!(kif(text), format!("K007@{place}"), "{text}");
    }
    for (text, forms) in [
        ("c :- a. d :- b. e", "(<= c\n    a)\n(<= d\n    b)\ne\n"),
        ("c(1) c(2) d :- b\ne", "(c 1) (c 2)\n(<= d\n    b)\ne\n"),
        ("  c :- a\n  d", "(<= c\n    a)\nd\n"),
        ("c :- a\n\n  d", "(<= c\n    a)\n\nd\n"),
        (
            "c :- not(b) & not (d)",
            "(<= c\n    (not b)\n    (not d))\n",
        ),
        ("c :- not\nd", "(<= c\n    not)\nd\n"),
        ("c :- a &\n b", "(<= c\n    a\n    b)\n"),
    ] {
        assert_eq!(kif(text), forms, "{text}");
    }
    assert_eq!(kif("p(a,)"), "K007@1:5");
    assert_eq!(kif("p(~a)"), "K007@1:3");
    assert_eq!(kif(&format!("p :- {}a", "~".repeat(100_000))), "K004@1:206");
    assert_eq!(kif(&"p(".repeat(100_000)), "K004@1:402");
    assert_eq!(
        infix_findings("(p ()) ((a) b) (p (?x y))"),
        "K003 K006 K006"
    );
}

fn infix_findings(kif: &str) -> String {
    let sources = Sources::from(Source::new("t", kif));
    let (forms, _) = read(&sources, SyntaxLimits::default());
    let codes = unwritable(&forms);
    codes
        .iter()
        .map(|f| f.code.to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_notation_of_a_text_is_detected() {
    for text in [
        "p(a)",
        "% x\n; y\n\nterminal :- q",
        "p\nq.\nr(1)",
        "'a+'(1)",
        "p:-q",
    ] {
        assert_eq!(detect_infix(text), Some(true), "{text}");
    }
    for text in [
        "(p a)",
        "\u{feff}; x\n (<= p q)",
        "terminal (role x)",
        "% x\n(p)",
    ] {
        assert_eq!(detect_infix(text), Some(false), "{text}");
    }
    for text in ["", "p", "; p(a)", "p q\n100", "a+ (p)", "'x", "((", "é(a)"] {
        assert_ne!(detect_infix(text), Some(true), "{text}");
    }
}
