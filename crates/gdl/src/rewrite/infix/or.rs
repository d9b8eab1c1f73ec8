//! Detection of `;` that means "or", as in Prolog, and not the beginning of a comment.

use ggp_stop::Stop;

use super::read::{Rule, Token, tokens};
use crate::rewrite::tree::column_of;

/// The place of the first `;` before token `next` that seems to mean "or". The clause begins at
/// byte `clause`; `is_inside` if a bracket of it is open.
///
/// Where a literal can end, `;` begins a comment only before words. A line of its own that is not
/// indented further than the clause, or that follows an empty line, is a comment unless the clause
/// clearly goes on.
pub(super) fn or_in_gap(
    text: &str,
    all: &[Token],
    next: usize,
    clause: usize,
    is_inside: bool,
) -> Option<usize> {
    let last = &all[next - 1];
    if last.rule == Rule::stop {
        return None;
    }
    let end = all.get(next).map_or(text.len(), |token| token.start);
    let goes_on = is_inside || all.get(next).is_some_and(|token| joins(token.rule));
    let mut first = None;
    let (mut start, mut is_outside) = (last.end, false);
    for (number, line) in text[last.end..end]
        .split_inclusive(['\n', '\r'])
        .enumerate()
    {
        let at = start + line.find([';', '%']).unwrap_or(line.len());
        start += line.len();
        is_outside |= number > 0 && line.trim().is_empty() && start < end;
        let Some(rest) = text[at..start].strip_prefix(';') else {
            continue;
        };
        let rest = Rest::of(rest);
        if !ends_term(last.rule) {
            if rest == Rest::Literals || rest == Rest::Ended {
                return Some(at);
            }
            continue;
        }
        if rest == Rest::Words {
            continue;
        }
        first = first.or(Some(at));
        let is_further = !is_outside && column_of(text, at) > column_of(text, clause);
        if number == 0 || is_further || goes_on || rest == Rest::Ended {
            return first;
        }
    }
    None
}

/// The text after a `;` on its line.
#[derive(PartialEq)]
enum Rest {
    /// Words of a comment.
    Words,
    /// Nothing, or one that may be a literal or a word.
    Name,
    /// Literals.
    Literals,
    /// Literals with a full stop at the end.
    Ended,
}

impl Rest {
    fn of(rest: &str) -> Self {
        let text = rest.trim_start_matches(';').replace(';', "|");
        let tokens = tokens(&text, &Stop::new());
        let word = |token: &Token| &text[token.start..token.end];
        let is_sign = |token: &Token| word(token).contains(|c| "=<>\\:+-*/![]{}\"".contains(c));
        let is_wrong = |token: &Token| token.rule == Rule::wrong && !is_sign(token);
        let follow = |pair: &[Token]| {
            let is_term = is_name(pair[1].rule);
            ends_term(pair[0].rule) && is_term && word(&pair[0]) != "not"
        };
        let is_part = |token: &Token| ends_term(token.rule) || word(token) == "!";
        let Some(last) = tokens.last() else {
            return Rest::Name;
        };
        let has_part = tokens.iter().any(is_part);
        if !has_part || tokens.iter().any(is_wrong) || tokens.windows(2).any(follow) {
            return Rest::Words;
        }
        let is_call = |pair: &[Token]| {
            is_name(pair[0].rule) && pair[1].rule == Rule::open && pair[0].end == pair[1].start
        };
        match last.rule {
            Rule::stop => Rest::Ended,
            rule if joins(rule) || tokens.windows(2).any(is_call) => Rest::Literals,
            _ => Rest::Name,
        }
    }
}

fn is_name(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::name | Rule::quoted | Rule::variable | Rule::marked
    )
}

/// True for tokens that can end a term.
fn ends_term(rule: Rule) -> bool {
    is_name(rule) || rule == Rule::close
}

/// True for tokens that continue a clause after a term.
fn joins(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::close | Rule::comma | Rule::both | Rule::either | Rule::unequal | Rule::arrow
    )
}
