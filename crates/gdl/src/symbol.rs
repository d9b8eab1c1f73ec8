//! Interned names.
//!
//! In: the text of a name. Out: a [`Symbol`], a small number that is cheap to
//! compare. Symbols are numbered in the order in which the names first appear, so an
//! order by symbol follows the rule file and does not depend on the names themselves.
//! Nothing here knows which names GDL reserves.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A name in one [`Symbols`] table.
///
/// Symbols are dense and ordered by first appearance. A symbol taken from one table
/// must never be used with another.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(u32);

impl Symbol {
    /// Position in the table, `0..symbols.len()`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Treatment of names that differ only in letter case.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Case {
    /// `Cell` and `cell` are one name, printed as it was first written.
    #[default]
    Fold,
    /// `Cell` and `cell` are two names.
    Keep,
}

/// The interner: maps names to symbols and back.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    case: Case,
    /// The first spelling of each name.
    spelled: Vec<Arc<str>>,
    /// The compared form of each name: lower case under [`Case::Fold`].
    compared: Vec<Arc<str>>,
    table: HashTable<u32>,
}

impl Symbols {
    /// An empty table.
    pub fn new(case: Case) -> Self {
        Symbols {
            case,
            ..Symbols::default()
        }
    }

    /// The symbol of `name`, created if it is new.
    pub fn intern(&mut self, name: &str) -> Symbol {
        let compared = self.compared_form(name);
        let hash = FxBuildHasher.hash_one(compared.as_ref());
        let entry = self.table.entry(
            hash,
            |&id| *self.compared[id as usize] == *compared,
            |&id| FxBuildHasher.hash_one(&*self.compared[id as usize]),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => Symbol(*found.get()),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let id = u32::try_from(self.spelled.len()).expect("fewer names than bytes read");
                free.insert(id);
                self.spelled.push(name.into());
                self.compared.push(compared.into());
                Symbol(id)
            }
        }
    }

    /// The symbol of `name`, if it has one.
    pub fn get(&self, name: &str) -> Option<Symbol> {
        let compared = self.compared_form(name);
        let hash = FxBuildHasher.hash_one(compared.as_ref());
        self.table
            .find(hash, |&id| *self.compared[id as usize] == *compared)
            .map(|&id| Symbol(id))
    }

    /// The name as it was first written.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.spelled[symbol.index()]
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.spelled.len()
    }

    /// True if no name was interned.
    pub fn is_empty(&self) -> bool {
        self.spelled.is_empty()
    }

    /// The treatment of letter case.
    pub fn case(&self) -> Case {
        self.case
    }

    fn compared_form<'n>(&self, name: &'n str) -> std::borrow::Cow<'n, str> {
        let plain = |c: char| c.is_ascii() && !c.is_ascii_uppercase();
        if self.case == Case::Keep || name.chars().all(plain) {
            name.into()
        } else {
            name.to_lowercase().into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_folded_but_the_first_spelling_is_kept() {
        let mut symbols = Symbols::new(Case::Fold);
        let first = symbols.intern("Cell");
        assert_eq!(symbols.intern("cELL"), first);
        assert_eq!(symbols.name(first), "Cell");
        assert_eq!(symbols.len(), 1);
    }

    #[test]
    fn case_can_be_kept() {
        let mut symbols = Symbols::new(Case::Keep);
        assert_ne!(symbols.intern("Cell"), symbols.intern("cell"));
    }

    #[test]
    fn numbers_are_names() {
        let mut symbols = Symbols::new(Case::Fold);
        assert_ne!(symbols.intern("1"), symbols.intern("01"));
        assert_eq!(symbols.get("2"), None);
    }
}
