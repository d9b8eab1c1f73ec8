use super::*;
use crate::span::Source;
use crate::syntax::{SyntaxLimits, read};

fn forms(text: &str) -> (Sources, Vec<Sexp>) {
    let sources = Sources::from(Source::new("t", text));
    let (forms, findings) = read(&sources, SyntaxLimits::default());
    assert!(findings.is_empty());
    (sources, forms)
}

fn between(old: &str, new: &str) -> Difference {
    let ((left, old), (right, new)) = (forms(old), forms(new));
    let (old, new) = (Form::all(&old, &left), Form::all(&new, &right));
    Difference::between(&old, &new, Case::Fold, &Stop::new())
}

#[test]
fn equivalent_rules_do_not_differ() {
    for (old, new) in [
        ("(a) (b 1)", "; c\n(B 1)\n(a)"),
        (
            "(<= (p ?x ?y) (q ?x) (r ?y))",
            "(<= (p ?a ?b) (r ?b) (q ?a))",
        ),
        // The first choice for a literal may be wrong.
        (
            "(<= p (e ?a ?b) (e ?b ?c) (e ?c ?d) (f ?d))",
            "(<= p (e ?x ?w) (f ?w) (e ?z ?y) (e ?y ?x))",
        ),
        ("(a) (a) (b)", "(a) (b) (a)"),
        (
            "(<= p (or (q ?a) (and (r ?b) s)) (t ?a) (not (or u (u ?a))))",
            "(<= p (NOT (or (u ?x) u)) (OR (and s (r ?y)) (q ?x)) (t ?x))",
        ),
        // Alternatives that match may be the wrong ones.
        (
            "(<= p (or (q ?a) (q ?b) (q ?c)) (r ?a ?b) (s ?b ?c))",
            "(<= p (or (q ?z) (q ?y) (q ?x)) (r ?x ?y) (s ?y ?z))",
        ),
    ] {
        assert!(
            between(old, new).is_empty(),
            "{old} and {new}: {:?}",
            between(old, new)
        );
        assert!(between(new, old).is_empty(), "{new} and {old}");
    }
}

#[test]
fn literals_of_every_form_are_compared() {
    let one = [
        "q",
        "()",
        "(q)",
        "(())",
        "(not)",
        "(not q)",
        "(not ())",
        "(or)",
        "(or q)",
        "(or () q)",
    ];
    let two = one
        .iter()
        .flat_map(|a| ["(not ", "(or q ", "(and () "].map(|head| format!("{head}{a})")));
    let all: Vec<String> = one.map(str::to_owned).into_iter().chain(two).collect();
    for old in &all {
        for new in &all {
            // Several literals leave some that are compared in any order.
            let rules =
                |literal: &str| format!("(<= p {literal} ())\n(<= p (r {literal}) {literal})");
            let found = between(&rules(old), &rules(new));
            assert!(old != new || found.is_empty(), "{old} {new}");
            assert!(
                between(&rules(new), &rules(old)).is_empty() == found.is_empty(),
                "{old} {new}"
            );
        }
    }
}

#[test]
fn rules_with_different_meanings_differ() {
    for (old, new) in [
        ("(a)", "a"),
        ("(a) (a)", "(a)"),
        ("(<= (p ?x ?y) (q ?x ?y))", "(<= (p ?x ?y) (q ?y ?x))"),
        ("(<= (p ?x) (q ?x ?y))", "(<= (p ?x) (q ?x ?x))"),
        ("(<= (p ?x) (q ?x ?x))", "(<= (p ?x) (q ?x ?y))"),
        ("(role a) (role b)", "(role b) (role a)"),
        ("(<= p (or q r))", "(<= p (and q r))"),
        ("(<= p (or q r r))", "(<= p (or q r q))"),
        ("(<= p (q (or a b)))", "(<= p (q (or b a)))"),
        ("(p (or a b))", "(p (or b a))"),
        (
            "(<= p (or (q ?a) (r ?b)) (s ?a))",
            "(<= p (or (r ?b) (q ?a)) (s ?b))",
        ),
    ] {
        assert!(!between(old, new).is_empty(), "{old} and {new}");
    }
    assert!(between("(role a) (role b)", "(role b) (role a)").roles_moved);
}

#[test]
fn changed_rules_are_found() {
    let found = between(
        "(x) (<= (p ?a) (q ?a) (r ?a ?b) (not (s ?b))) (<= (p ?x) (t ?x ?x ?x))",
        "(<= (p ?y) (t ?y ?y ?y)) (<= (p ?k) (r ?k ?l) (v ?l) (q ?k) (not (s ?k))) (y 1 2)",
    );
    assert_eq!((found.removed, found.added), (vec![0], vec![2]));
    let [change] = &found.changed[..] else {
        panic!("{:?}", found.changed);
    };
    assert_eq!((change.old, change.new), (1, 1));
    let expected = [
        Part::Same(0, 0),
        Part::Same(1, 3),
        Part::Same(2, 1),
        Part::Added(2),
        Part::Changed(3, 4),
    ];
    assert_eq!(change.parts, expected);
    assert_eq!(change.variables["?a"], "?k");
}

#[test]
fn facts_and_renamed_relations_are_paired() {
    let found = between("(at 1 1 x) (at 1 2 x)", "(at 1 1 y) (at 1 2 z)");
    let pairs: Vec<_> = found
        .changed
        .iter()
        .map(|change| (change.old, change.new))
        .collect();
    assert_eq!(pairs, [(0, 0), (1, 1)]);
    let found = between("(<= (p ?x) (q ?x) (r ?x))", "(<= (n ?x) (q ?x) (r ?x))");
    assert_eq!(found.changed[0].parts[0], Part::Changed(0, 0));
    assert!(between("(p 1 2)", "(q 3 4)").changed.is_empty());
}
