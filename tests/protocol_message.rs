//! The messages of hosts and players as text.

use ggp_play::protocol::message::{
    Balance, Info, LastTurn, Message, MessageError, MessageLimits, Reply, parse_move, spaced,
};
use proptest::prelude::*;

fn parse(text: &str) -> Result<Message, MessageError> {
    Message::parse(text, MessageLimits::default())
}

/// Checks the normal form of a message.
fn check(text: &str, expected: &str) {
    let message = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(message.to_string(), expected);
    let again = parse(expected).map(|message| message.to_string());
    assert_eq!(again.as_deref(), Ok(expected), "{text}");
}

/// Checks that a text is rejected with a reason.
fn refused(text: &str, expected: &str) {
    let error = parse(text).expect_err(text);
    assert_eq!(error.to_string(), expected, "{text}");
}

#[test]
fn messages_of_hosts_are_read_and_written_identically() {
    for text in [
        "( INFO )",
        "( PREVIEW (( role robot ) ( <= terminal ( true done ) ) ) 5 )",
        "( START m.ttt.1 bowstrings (( role indulgences ) ( role bowstrings ) \
         ( dispelling 1 ) ) 15 5)",
        "( PLAY m.ttt.1 NIL )",
        "( PLAY m.ttt.1 (( iniquitous 1 1 ) waterfronts ) )",
        "( STOP m.ttt.1 (( iniquitous 1 1 ) waterfronts ) )",
        "( ABORT m.ttt.1 )",
    ] {
        check(text, text);
    }
}

#[test]
fn letter_case_and_whitespace_of_a_message_do_not_matter() {
    check("(info)", "( INFO )");
    check("(ping)", "( INFO )");
    check("info", "( INFO )");
    check("\r\n\r\n  (Info)\n", "( INFO )");
    check("(PLAY m1 nil)", "( PLAY m1 NIL )");
    check("(play m1 Nil)", "( PLAY m1 NIL )");
    check("(play m1())", "( PLAY m1 ( ) )");
    check(
        "(\tStop\nm1((mark 1 1)noop))",
        "( STOP m1 (( mark 1 1 ) noop ) )",
    );
    check("(aBORT\u{a0}m1)", "( ABORT m1 )");
}

#[test]
fn an_empty_message_asks_for_the_status() {
    for text in ["", " \r\n", "; a comment\n"] {
        check(text, "( INFO )");
    }
}

#[test]
fn comments_are_ignored_and_spelling_is_kept() {
    let text = "(START m1 xPlayer ( ; the roles (\n (ROLE xPlayer)(Role o)\n;)\n) 010 5)";
    let expected = "( START m1 xPlayer (( ROLE xPlayer ) ( Role o ) ) 10 5)";
    check(text, expected);
    let Ok(Message::Start { rules, role, .. }) = parse(text) else {
        panic!("no START");
    };
    assert_eq!(role, "xPlayer");
    assert!(rules.contains("(ROLE xPlayer)(Role o)"), "{rules}");
}

#[test]
fn moves_keep_their_spelling() {
    let moves = vec!["(Mark  1 1)".to_owned(), "NOOP".to_owned()];
    let id = "m1".to_owned();
    assert_eq!(
        parse("(play m1 ((Mark  1 1) NOOP))"),
        Ok(Message::Play {
            id,
            last: LastTurn::of_joint_move(moves),
        })
    );
}

#[test]
fn additional_arguments_are_ignored_where_no_form_has_them() {
    check("(INFO now)", "( INFO )");
    check("(START m1 r () 1 2 (extra 3) 4)", "( START m1 r ( ) 1 2)");
    check("(ABORT m1 NIL)", "( ABORT m1 )");
}

#[test]
fn invalid_messages_are_rejected_with_the_reason() {
    refused("(INFO", "brackets do not match");
    refused(")", "brackets do not match");
    refused("(INFO))", "brackets do not match");
    refused("(PLAY m1 ((a b) c)", "brackets do not match");
    let not = "not a message such as (INFO) or (PLAY id NIL)";
    refused("()", not);
    refused("((INFO))", not);
    refused("(INFO) (INFO)", not);
    refused("favicon.ico", "unknown message `favicon.ico`");
    refused("(WAIT m1)", "unknown message `wait`");
    refused("(ABORT)", "not of the form (ABORT ID)");
    refused("(ABORT (m1))", "not of the form (ABORT ID)");
    let play = "not of the form (PLAY ID (MOVE ...)), (PLAY ID NIL) or \
                (PLAY ID TURN MOVE (PERCEPT ...))";
    for wrong in [
        "(PLAY m1)",
        "(PLAY m1 NIL NIL)",
        "(PLAY m1 1 noop)",
        "(PLAY m1 first NIL NIL)",
        "(PLAY m1 -1 NIL NIL)",
        "(PLAY m1 (1) NIL NIL)",
        "(PLAY m1 1 noop () ())",
    ] {
        refused(wrong, play);
    }
    let start = "not of the form (START ID ROLE (RULE ...) STARTCLOCK PLAYCLOCK)";
    refused("(START m1 r () 1)", start);
    refused("(START m1 r NIL 1 2)", start);
    refused("(START m1 (r) () 1 2)", start);
    refused(
        "(START m1 r () soon 2)",
        "`soon` is not a number of seconds",
    );
    refused("(START m1 r () -1 2)", "`-1` is not a number of seconds");
    refused(
        "(START m1 r () 99999999999 2)",
        "`99999999999` is not a number of seconds",
    );
    refused("(PREVIEW ())", "not of the form (PREVIEW (RULE ...) CLOCK)");
    let long = "x".repeat(1_000_000);
    let error = parse(&format!("({long})")).expect_err("there is no such kind");
    assert!(error.to_string().len() < 100);
}

#[test]
fn percepts_are_read_and_written_in_both_forms() {
    for text in [
        "( PLAY m1 0 NIL NIL )",
        "( PLAY m1 3 ( mark 1 1 ) (( seen 1 ) nothing ) )",
        "( PLAY m1 3 noop ( ) )",
        "( STOP m1 4 noop NIL )",
        "( PLAY m1 ( ) )",
        "( PLAY m1 (( does a ( mark 1 1 ) ) ) )",
    ] {
        check(text, text);
    }
    check("(play m1 0 nil())", "( PLAY m1 0 NIL ( ) )");
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let last = |text: &str| match parse(text) {
        Ok(Message::Play { last, .. } | Message::Stop { last, .. }) => last,
        other => panic!("{other:?}"),
    };
    // A move may have the name NIL.
    let turn = LastTurn::Own {
        turn: 7,
        own_move: Some("nil".to_owned()),
        percepts: Some(texts(&["(seen  1)", "nothing"])),
    };
    assert_eq!(last("(STOP m1 7 nil ((seen  1)nothing))"), turn);
    let first = LastTurn::Own {
        turn: 0,
        own_move: None,
        percepts: None,
    };
    assert_eq!(last("(PLAY m1 0 NIL NIL)"), first);
    assert!(first.is_empty() && !turn.is_empty());
    assert_eq!(last("(PLAY m1 NIL)"), LastTurn::List(None));
    assert_eq!(last("(PLAY m1 ())"), LastTurn::List(Some(Vec::new())));
}

#[test]
fn limits_are_enforced() {
    let deep = |depth: usize| format!("(PLAY m1 {}{})", "(".repeat(depth), ")".repeat(depth));
    assert!(parse(&deep(201)).is_ok());
    assert_eq!(parse(&deep(202)), Err(MessageError::TooDeep(202)));
    let deepest = "(".repeat(8_000_000) + &")".repeat(8_000_000);
    assert_eq!(parse(&deepest), Err(MessageError::TooDeep(202)));
    let limits = MessageLimits {
        bytes: 20,
        moves: 3,
        ..MessageLimits::default()
    };
    assert!(Message::parse("(PLAY m (a b c))", limits).is_ok());
    assert_eq!(
        Message::parse("(PLAY m (a b c d))", limits),
        Err(MessageError::TooManyMoves(3))
    );
    assert_eq!(
        Message::parse("(PLAY m (a b c d e f))", limits),
        Err(MessageError::TooLong(20))
    );
}

#[test]
fn answers_have_the_form_that_hosts_expect() {
    let info = Info {
        name: Some(" The (best) one ".to_owned()),
        status: Some("available".to_owned()),
        species: None,
    };
    assert_eq!(
        Reply::Info(info).to_string(),
        "( ( name The__best__one ) ( status available ) )"
    );
    let chosen = Reply::Move("(mark 1 (f 2))".to_owned());
    assert_eq!(chosen.to_string(), "( mark 1 ( f 2 ) )");
    assert_eq!(Reply::Move("NoOp".to_owned()).to_string(), "NoOp");
    let others = [
        Reply::Ready,
        Reply::Busy,
        Reply::Nil,
        Reply::Done,
        Reply::Aborted,
    ];
    let others = others.map(|reply| reply.to_string()).join(" ");
    assert_eq!(others, "ready busy nil done aborted");
}

#[test]
fn every_info_answer_is_understood() {
    let check = |text: &str, name: Option<&str>, status: Option<&str>| {
        let info = Info::parse(text, MessageLimits::default());
        let found = (info.name.as_deref(), info.status.as_deref());
        assert_eq!(found, (name, status), "{text}");
    };
    let available = Some("available");
    check(
        "( ( name Random ) ( status available ) )",
        Some("Random"),
        available,
    );
    check(
        "((NAME a b (c)) (Status busy))",
        Some("ab( c )"),
        Some("busy"),
    );
    check("available", None, available);
    check(
        "(junk (1) () (x y) (status available) (name))",
        None,
        available,
    );
    for text in ["", "(", "((name x)", "ready now", ")"] {
        check(text, None, None);
    }
    assert!(Info::parse("BUSY", MessageLimits::default()).is_busy());
    let info = Info::parse("((species alien))", MessageLimits::default());
    assert_eq!(info.species.as_deref(), Some("alien"));
}

#[test]
fn a_move_is_the_first_element_of_an_answer() {
    let check = |text: &str, expected: Option<&str>| {
        let found = parse_move(text, MessageLimits::default()).ok();
        assert_eq!(found.as_deref(), expected, "{text}");
    };
    check(" NoOp\r\n", Some("NoOp"));
    check("( mark 1 1 )", Some("( mark 1 1 )"));
    check("noop (explanation \"because :(\")", Some("noop"));
    check("(mark 1 1)(taunt \"ha)\")", Some("(mark 1 1)"));
    for comment in [";", " ; comment", "\n; one\r; (two", " ;; )\n"] {
        check(&format!("(mark 1 1){comment}"), Some("(mark 1 1)"));
        check(&format!("noop{comment}"), Some("noop"));
        check(&format!("noop{comment}\n(taunt \")\")"), Some("noop"));
        check(&format!("noop{comment}\nnoop"), None);
    }
    for text in [
        "",
        " ",
        "(mark 1",
        "mark 1 1",
        ")",
        "noop (mark 1 1)",
        "noop (",
    ] {
        check(text, None);
    }
}

#[test]
fn a_message_is_complete_when_its_brackets_are_balanced() {
    let mut balance = Balance::default();
    for (text, whole) in [
        ("\r\n", false),
        ("(PLAY m1 ; (((\n", false),
        ("((a)", false),
        ("b)", false),
        (")", true),
        ("\r\n", true),
    ] {
        balance.push(text.as_bytes());
        assert_eq!(balance.is_whole(), whole, "{text}");
    }
}

#[test]
fn spaces_are_added_around_brackets_and_comments_removed() {
    assert_eq!(spaced("(a(b c);x\n d)e"), "( a ( b c ) d ) e");
}

proptest! {
    #[test]
    fn arbitrary_text_does_not_panic(text in "[()a-z0-9; \n\u{e9}\u{a0}?]{0,60}") {
        let limits = MessageLimits { nesting: 5, ..MessageLimits::default() };
        let _ = Info::parse(&text, limits);
        let _ = parse_move(&text, limits);
        for kind in ["", "START ", "PLAY ", "STOP ", "PREVIEW "] {
            let text = format!("({kind}{text})");
            if let Ok(message) = Message::parse(&text, limits) {
                let again = Message::parse(&message.to_string(), limits);
                prop_assert_eq!(again.map(|again| again.to_string()), Ok(message.to_string()));
            }
        }
    }
}
