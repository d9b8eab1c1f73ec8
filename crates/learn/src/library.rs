//! Values of many games.
//!
//! In: texts of files of values. Out: the values for a network, if one of the files belongs to
//! its rules. Without the feature `files`, a library is empty.

use std::fmt;
#[cfg(feature = "files")]
use std::sync::Arc;

use ggp_engine::propnet::Propnet;
use ggp_gdl::counted::counted;
use ggp_gdl::game::Game;
#[cfg(feature = "files")]
use rustc_hash::FxHashMap;

#[cfg(feature = "files")]
use crate::file::{read, rules};
use crate::fingerprint::Fingerprint;
use crate::{Trust, Values};

/// The version of the format.
pub(crate) const VERSION: u32 = 2;

/// The reason why a file cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileError {
    /// The text is not a file of values.
    Malformed(String),
    /// The file has another version.
    Version(u32),
    /// The file belongs to rules with another fingerprint.
    OtherRules {
        /// The fingerprint in the file.
        found: String,
        /// The fingerprint of the rules.
        expected: Fingerprint,
    },
    /// The network lacks this number of facts of the file.
    MissingFacts(usize),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Malformed(why) => write!(f, "expected a file of `ggp learn`: {why}"),
            FileError::Version(found) => write!(
                f,
                "the file has version {found} of the format; this program reads version {VERSION}"
            ),
            FileError::OtherRules { found, expected } => write!(
                f,
                "the file belongs to other rules: it has fingerprint {found}, and the rules have \
                 {expected}"
            ),
            FileError::MissingFacts(count) => write!(
                f,
                "the network of the rules lacks {} of the file; it was built with \
                 other limits",
                counted(count, "fact")
            ),
        }
    }
}

impl std::error::Error for FileError {}

/// Files of values, each for other rules.
#[derive(Clone, Default, Debug)]
pub struct Library {
    #[cfg(feature = "files")]
    texts: FxHashMap<Fingerprint, Arc<str>>,
}

impl Library {
    /// A library without files.
    pub fn new() -> Self {
        Library::default()
    }

    /// Adds the text of a file, in place of one for the same rules.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the text does not begin as a file of values does. The rest is checked
    /// when it is used.
    #[cfg(feature = "files")]
    pub fn add(&mut self, text: String) -> Result<(), FileError> {
        self.texts.insert(rules(&text)?, text.into());
        Ok(())
    }

    /// The texts of all files, in a fixed order.
    pub fn texts(&self) -> Vec<&str> {
        #[cfg(feature = "files")]
        let mut texts: Vec<&str> = self.texts.values().map(|text| &**text).collect();
        #[cfg(not(feature = "files"))]
        let mut texts: Vec<&str> = Vec::new();
        texts.sort_unstable();
        texts
    }

    /// Returns true if there are no files.
    pub fn is_empty(&self) -> bool {
        self.texts().is_empty()
    }

    /// Returns true if a file belongs to the rules of a game.
    pub fn has(&self, game: &Game) -> bool {
        #[cfg(feature = "files")]
        return self.texts.contains_key(&Fingerprint::of(game));
        #[cfg(not(feature = "files"))]
        {
            let _ = game;
            false
        }
    }

    /// The values for a network and their trust; `None` if no file belongs to its rules.
    ///
    /// # Errors
    ///
    /// [`FileError`] if the file is damaged, or does not fit the network.
    pub fn values(&self, net: &Propnet) -> Result<Option<(Values, Trust)>, FileError> {
        #[cfg(feature = "files")]
        {
            let text = self.texts.get(&Fingerprint::of(net.game()));
            text.map(|text| read(net, text)).transpose()
        }
        #[cfg(not(feature = "files"))]
        {
            let _ = net;
            Ok(None)
        }
    }
}
