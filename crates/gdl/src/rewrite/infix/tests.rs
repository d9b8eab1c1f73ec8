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
fn operators_of_prolog_are_read() {
    let literals = ["a", "a(X,b)", "'a+'(b)", "~a", "X"];
    for literal in literals {
        let expected = kif(&format!("c :- d & ~{literal} & e"));
        for sign in ["not ", "\\+ ", "\\+", "~ "] {
            for (before, between, behind) in [("", "&", ""), ("", ",", "."), ("(", ")&(", ")")] {
                let text = format!("c :- {before}d {between} {sign}{literal} {between} e{behind}");
                assert_eq!(kif(&text), expected, "{text}");
            }
        }
    }
    assert_eq!(kif("c :- not not a"), kif("c :- ~~a"));
    assert_eq!(kif("c :- not a | b"), kif("c :- ~a | b"));
    let expected = "(<= c\n    (distinct ?x (f a))\n    (not (distinct b c)))\n";
    for sign in ["\\=", "!=", " \\= ", " != "] {
        let text = format!("c :- X{sign}f(a), not b{sign}c.");
        assert_eq!(kif(&text), expected, "{text}");
    }
    assert_eq!(kif("p(not a)"), "K007@1:7");
}

#[test]
fn comments_are_converted_and_restored() {
    check(
        "; head\n\n;; two\n(a)  ; behind\n(<= b\n    ; before\n    (c)  ; of c\n    (d))  ; of d\n; end\n",
        "% head\n\n%% two\na()  % behind\nb :-\n  % before\n  c() &  % of c\n  d()  % of d\n% end\n",
    );
    check("(a)  ;% odd\n", "a()  %;% odd\n");
    check("(a)  ;;;%% odd\n", "a()  %;;;%% odd\n");
    // Two adjacent comments remain two comments.
    let text = infix("(<= a b\n ; end\n) ; after\n(c)");
    assert_eq!(text, "a :-\n  b\n  % end\n  % after\nc()\n");
    assert_eq!(kif(&text), "(<= a\n    b)\n; end\n; after\n(c)\n");
    let text = infix("(<= a b ; end\n) ; after\n(c)");
    assert_eq!(text, "a :-\n  b  % end\n  % after\nc()\n");
    assert_eq!(kif(&text), "(<= a\n    b)  ; end\n; after\n(c)\n");
    assert_eq!(infix("(a ; x\n (b ; y\n c))"), "% x\n% y\na(b(c))\n");
    assert_eq!(kif("a(b, % x\n c)"), "(a b  ; x\n   c)\n");
}

#[test]
fn a_semicolon_that_means_or_is_named_at_its_place() {
    // `@` is the place; the texts before it are parts of a clause that can end there.
    let parts = [
        ("x :- y@", "."),
        ("x :- y, w(1)@", "."),
        ("x(A) :- y(A,'b')@", "."),
        ("x :- ~y@", ""),
        ("x :- (y@", ")."),
        ("x :- v | (w, (y@", "))."),
        ("f(a)@", "."),
        ("role(p)@", ""),
        ("x@", "."),
        ("f(a@", ")."),
        ("x :- A@", ""),
        ("x :- y\n  @", "."),
        ("x :- (y\n    @", ")."),
        ("x :-\n  y(1)\n  @", ""),
    ];
    let rests = [
        "z",
        "z; w",
        "z(1)",
        "(z, w)",
        "~z",
        "\\+ z",
        "not z",
        "X = b",
        "X \\== b",
        "z % or",
        "z(a) % or",
        "init(s)",
        "q :- r",
        "\n   z",
        "\n   z(1)",
        "\n   (z, w)",
        " % or\n   z",
        "!",
    ];
    for (part, end) in parts {
        for rest in rests {
            for (before, after) in [("", ""), (" ", " "), ("", " "), (" ", "")] {
                for previous in ["", "a(b).\n", "a(b)\n", "a :- b  % note\n"] {
                    let start = format!("{previous}{}{before}", &part[..part.len() - 1]);
                    let text = format!("{start};{after}{rest}{end}\nnext(b)\n");
                    let line = start.rfind('\n').map_or(0, |end| end + 1);
                    let row = start.matches('\n').count() + 1;
                    let place = format!("K007@{row}:{}", start.len() - line + 1);
                    assert_eq!(kif(&text), place, "{text}");
                }
            }
        }
    }
    // In these places, no literal can follow; only text that looks like one is named.
    for part in ["x :-", "x :- y,", "x :- y &\n ", "x :- (", "f(a,"] {
        for rest in ["z(1)", "z.", "z, w.", "z)."] {
            let text = format!("{part} ; {rest}\nnext(b)\n");
            let row = part.matches('\n').count() + 1;
            let column = part.len() - part.rfind('\n').map_or(0, |end| end + 1) + 2;
            assert_eq!(kif(&text), format!("K007@{row}:{column}"), "{text}");
        }
    }
    for comment in ["the end.", "one (of two)", "don't", "-----", "p(a) is true"] {
        for part in [
            "x :- y@",
            "f(a)@",
            "x :- y,@ z",
            "x(@ a)",
            "x :- y.@",
            "f(a).@",
            "x :- y\n@",
            "x :- (y@ & z)",
        ] {
            let text = part.replace('@', &format!("  ; {comment}\n"));
            let other = part.replace('@', &format!("  % {comment}\n"));
            assert!(!kif(&text).starts_with('K'), "{text}");
            assert_eq!(kif(&text), kif(&other), "{text}");
        }
    }
    for comment in ["z", "z(1)", "z, w.", "X = b"] {
        for part in ["f(a).@", "x :- y.@", "x :- y. @", "@f(a)"] {
            let text = part.replace('@', &format!("; {comment}\n"));
            assert!(!kif(&text).starts_with('K'), "{text}");
        }
    }
    for text in [
        "f(a)\n; z\ng(b)",
        "f(a)\n; z(1)\ng(b)",
        "x :- y\n;\n; z\n;\ng(b)",
        "x :- y\n\n  ; z\n  g",
    ] {
        assert!(!kif(text).starts_with('K'), "{text}");
    }
}

#[test]
fn help_fits_the_operator() {
    let help = |infix: &str| {
        let source = Source::new("t", infix);
        let found = from_infix(&source, SyntaxLimits::default(), &Stop::new());
        let finding = found.expect_err("wrong").remove(0);
        finding.help.expect("a help")
    };
    for sign in ["=", " = ", "==", " =:= ", " \\== ", " =\\= "] {
        for text in [
            format!("x :- X{sign}b"),
            format!("x :- y, not X{sign}b.\na :: b ==> c."),
        ] {
            let help = help(&text);
            assert!(
                help.contains("in place of") && help.contains("distinct"),
                "{text}: {help}"
            );
        }
    }
    for text in [
        "a :: b ==> c",
        "p(A) & q(A) ==> next(x)",
        "p(A) &\n q(A)\n ==> next(x)",
        "p ==> q.",
        "p(A) :: q",
    ] {
        assert!(help(text).contains("==>"), "{text}");
    }
    assert!(help("p(a & b)").contains("term cannot"));
    assert!(help("p(a) & q(b)").contains("head :- body"));
    for text in ["p :- & q", "p :- q & , r", "p :- | q"] {
        assert!(help(text).contains("literal before it"), "{text}");
    }
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
        ("c :- a not b", "1:8"),
        ("c :- (a ; b(X)).\nd", "1:9"),
        ("c :- a ; b.", "1:8"),
        ("c :- a, not b ; not c, d.", "1:15"),
        ("c :-\n  ( a(1)\n  ; b(2)\n  ).", "3:3"),
        ("c :- a(1)\n   ; ~b(2) | c", "2:4"),
        ("a :: b ==> c", "1:3"),
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
        ("c :- not & d", "(<= c\n    not\n    d)\n"),
        ("c :- a  ; the end.\n", "(<= c\n    a)  ; the end.\n"),
        ("c :- a.  ; b(1).\n", "(<= c\n    a)  ; b(1).\n"),
        ("c :- a\n; b(1)\nd", "(<= c\n    a)\n; b(1)\nd\n"),
        (
            "c :- a(1, ; one (of two)\n 2)",
            "(<= c\n    (a 1  ; one (of two)\n       2))\n",
        ),
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
