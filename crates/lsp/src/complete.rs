//! Completion: the words that can be inserted at a position.
//!
//! While a user types, the text is rarely correct. So only the brackets before the position
//! are examined, together with the last correct version of the text.

use std::collections::BTreeMap;

use lsp_types::{CompletionItem, CompletionItemKind, Position};

use super::hover::{functor_of, relation_of};
use super::rule_files::RuleFiles;
use super::slots::Slot;
use ggp_gdl::analysis::domains::Domains;
use ggp_gdl::check::Keyword;
use ggp_gdl::counted::counted;
use ggp_gdl::game::Game;
use ggp_gdl::rewrite::{NameKind, Use};

/// The context of a position.
struct Context<'t> {
    /// The names of the enclosing lists, the innermost last, and the number of members
    /// before the position in each.
    lists: Vec<(&'t str, usize)>,
    /// The part of the word that is typed already.
    typed: &'t str,
    /// True if the word is the first in its list.
    is_first: bool,
    /// The start of the outermost list.
    start: usize,
}

fn context(text: &str) -> Context<'_> {
    let mut lists: Vec<(&str, usize)> = Vec::new();
    let mut typed = "";
    let mut rest = text;
    let mut is_first = false;
    let mut start = text.len();
    while let Some(c) = rest.chars().next() {
        typed = "";
        match c {
            ';' => {
                let end = rest.find('\n').unwrap_or(rest.len());
                rest = &rest[end..];
                continue;
            }
            '(' => {
                if lists.is_empty() {
                    start = text.len() - rest.len();
                }
                lists.push(("", 0));
                is_first = true;
            }
            ')' => {
                lists.pop();
                count(&mut lists, "");
                is_first = false;
            }
            c if c.is_whitespace() => {}
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || "();".contains(c));
                let word = &rest[..end.unwrap_or(rest.len())];
                rest = &rest[word.len()..];
                if rest.is_empty() {
                    typed = word;
                } else {
                    count(&mut lists, word);
                    is_first = false;
                }
                continue;
            }
        }
        rest = &rest[c.len_utf8()..];
    }
    Context {
        lists,
        typed,
        is_first,
        start,
    }
}

/// Counts one more member of the innermost list; the first member is its name.
fn count<'t>(lists: &mut [(&'t str, usize)], word: &'t str) {
    if let Some((name, members)) = lists.last_mut() {
        if *members == 0 {
            *name = word;
        }
        *members += 1;
    }
}

impl RuleFiles {
    /// The words that can be inserted at a position.
    pub fn completions(&self, position: Position) -> Vec<CompletionItem> {
        let offset = self.offset(position);
        let around = context(&self.text()[..offset]);
        let mut found: BTreeMap<String, (CompletionItemKind, String)> = BTreeMap::new();
        if around.typed.starts_with('?') {
            self.variables(&around, offset, &mut found);
        } else if around.is_first || around.lists.is_empty() {
            self.heads(&around, &mut found);
        } else {
            self.variables(&around, offset, &mut found);
            self.terms(&around, &mut found);
        }
        let items = found
            .into_iter()
            .map(|(label, (kind, detail))| CompletionItem {
                label,
                kind: Some(kind),
                detail: Some(detail),
                ..CompletionItem::default()
            });
        items.collect()
    }

    /// The variables of the form around an offset, except the one being typed.
    fn variables(
        &self,
        around: &Context<'_>,
        offset: usize,
        found: &mut BTreeMap<String, (CompletionItemKind, String)>,
    ) {
        let text = self.text();
        // While a bracket is missing, the form ends where a line begins with a bracket.
        let end = text[offset..]
            .find("\n(")
            .map_or(text.len(), |end| offset + end);
        let start = around.start.min(offset);
        for (at, _) in text[start..end].match_indices('?') {
            let rest = &text[start + at..end];
            let length = rest.find(|c: char| c.is_whitespace() || "();".contains(c));
            let name = &rest[..length.unwrap_or(rest.len())];
            if name.len() > 1 && start + at + name.len() != offset {
                let kind = CompletionItemKind::VARIABLE;
                found.insert(name.to_owned(), (kind, "variable".to_owned()));
            }
        }
    }

    /// The names that a list can begin with.
    fn heads(
        &self,
        around: &Context<'_>,
        found: &mut BTreeMap<String, (CompletionItemKind, String)>,
    ) {
        let parents = around
            .lists
            .len()
            .saturating_sub(usize::from(around.is_first));
        let parent = parents.checked_sub(1).map(|place| around.lists[place]);
        let slot = parent.and_then(|(name, members)| Slot::of(name, members.checked_sub(1)?));
        if let Some(slot @ (Slot::Fact | Slot::Move)) = slot {
            let filled = self.filled(slot);
            for (name, arity) in filled.iter().filter(|(_, arity)| **arity > 0) {
                if name != around.typed {
                    let item = (CompletionItemKind::CONSTRUCTOR, arguments(*arity));
                    found.entry(name.clone()).or_insert(item);
                }
            }
            if !filled.is_empty() {
                return;
            }
        }
        let parent = parent.map(|(name, _)| name);
        let keyword = parent.and_then(Keyword::of);
        // Inside a term these are functions, otherwise relations.
        let is_formula = parent.is_none_or(|parent| {
            parent == "<=" || matches!(keyword, Some(Keyword::Not | Keyword::Or | Keyword::And))
        });
        if is_formula {
            for keyword in Keyword::ALL {
                let (kind, detail) = (CompletionItemKind::KEYWORD, keyword.form().to_owned());
                found.insert(keyword.as_str().to_owned(), (kind, detail));
            }
        }
        let wanted = if is_formula {
            NameKind::Relation
        } else {
            NameKind::Term
        };
        for name in self.uses().iter().filter(|name| name.kind == wanted) {
            let word = self.word(name.span);
            if word == around.typed
                || Keyword::of(word).is_some()
                || (name.arity == 0 && !is_formula)
            {
                continue;
            }
            let detail = arguments(name.arity);
            let kind = match wanted {
                NameKind::Relation => CompletionItemKind::FUNCTION,
                NameKind::Term => CompletionItemKind::CONSTRUCTOR,
            };
            found.entry(word.to_owned()).or_insert((kind, detail));
        }
    }

    /// The constants of rules that never were a complete game.
    fn constants(
        &self,
        around: &Context<'_>,
        found: &mut BTreeMap<String, (CompletionItemKind, String)>,
    ) {
        let is_constant = |name: &&Use| name.kind == NameKind::Term && name.arity == 0;
        for name in self.uses().iter().filter(is_constant) {
            let word = self.word(name.span);
            if word != around.typed && Keyword::of(word).is_none() {
                let item = (CompletionItemKind::CONSTANT, "name".to_owned());
                found.entry(word.to_owned()).or_insert(item);
            }
        }
    }

    /// The constants that can be used as an argument, or all constants.
    fn terms(
        &self,
        around: &Context<'_>,
        found: &mut BTreeMap<String, (CompletionItemKind, String)>,
    ) {
        let Some(game) = self.last_game() else {
            self.constants(around, found);
            return;
        };
        let mut names = Vec::new();
        let mut all = true;
        if let Some((name, members)) = around.lists.last()
            && *members > 0
            && let Some(domain) = domain(game, name, members - 1)
        {
            names = domain;
            all = false;
        }
        let constants = game
            .functors()
            .iter()
            .filter(|(_, functor)| functor.arity() == 0);
        for (functor, shape) in constants {
            if all || names.contains(&functor) {
                let name = game.symbols().name(shape.name).to_owned();
                if name != around.typed && Keyword::of(&name).is_none() {
                    found
                        .entry(name)
                        .or_insert((CompletionItemKind::CONSTANT, "name".to_owned()));
                }
            }
        }
    }
}

fn arguments(arity: usize) -> String {
    counted(arity, "argument")
}

/// The constants that can be used as an argument of a name, whatever its arity.
fn domain(game: &Game, name: &str, argument: usize) -> Option<Vec<ggp_gdl::program::FunctorId>> {
    let domains = Domains::of(game)?;
    let mut names = Vec::new();
    let mut known = false;
    for arity in argument + 1..=argument + 16 {
        let Some(functor) = functor_of(game, name, arity) else {
            continue;
        };
        known = true;
        if let Some(relation) = relation_of(game, functor) {
            names.extend(domains.column(relation, argument));
        }
        names.extend(domains.argument(functor, argument));
    }
    known.then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_before_a_position_tell_what_it_is_in() {
        let found = context("(p a) ; (q\n(<= (r ?x) (s (t 1) ?");
        assert_eq!(found.lists, [("<=", 2), ("s", 2)]);
        assert_eq!((found.typed, found.is_first), ("?", false));
        let found = context("(p (");
        assert_eq!(found.lists, [("p", 1), ("", 0)]);
        assert!(found.is_first && found.typed.is_empty());
        assert!(context("ab) c").lists.is_empty());
    }
}
