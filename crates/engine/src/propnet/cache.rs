//! Networks that are kept in a folder from one run to the next.
//!
//! In: a game, limits, a folder. Out: the simplified network that an earlier run made, or the
//! limit that it exceeded. The name of a file is a digest of all that the network depends on: the
//! rules, the names in them, the limits, and the sources of the program. A checksum shows damage; a file that
//! cannot be used counts as missing. All files may be deleted at any time.

use std::env;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use hmac_sha256::Hash as Sha256;
use serde::{Deserialize, Serialize};

use super::network::{Literal, Network};
use super::{Exclusive, GroundError, GroundLimits, Propnet};
use crate::excess::Excess;
use ggp_gdl::game::{Game, Move};
use ggp_gdl::program::FunctorId;
use ggp_gdl::terms::{TermId, Terms};

/// The extension of the files.
const EXTENSION: &str = "network";
/// The beginning of the names of files that are being written.
const UNFINISHED: &str = "unfinished-";
/// The time from which on a network is worth a file.
const WORTH: Duration = Duration::from_millis(20);
/// The bytes of the checksum at the end of a file.
const CHECKSUM: usize = 4;

/// The first bytes of a file, and its name.
type Digest = [u8; 16];

/// A folder of networks.
///
/// # Examples
///
/// ```
/// use ggp_engine::propnet::{GroundLimits, NetworkCache, Propnet};
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let cache = NetworkCache::new(folder, 100 << 20);
/// let limits = GroundLimits { cache: Some(cache), ..GroundLimits::default() };
/// # let text = "(role r) (init a) (legal r go) (next a) (terminal) (goal r 0)";
/// # let game = ggp_gdl::game::Game::from_text("one.kif", text).expect("it has no errors");
/// let net = Propnet::simplified(&game, &limits)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct NetworkCache {
    folder: PathBuf,
    bytes: u64,
}

/// A network as it is written. Terms are numbers.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// The number of terms.
    count: usize,
    /// By term, after its arguments: its functor, the number of its arguments, and they.
    terms: Vec<u32>,
    network: Network,
    facts: Vec<u32>,
    moves: Vec<Vec<u32>>,
    initial: Vec<bool>,
    next: Vec<Literal>,
    legal: Vec<Vec<Literal>>,
    terminal: Literal,
    goals: Vec<Vec<(u32, Literal)>>,
    assumed: Vec<(usize, Literal)>,
    exclusive: Vec<Exclusive>,
}

/// The limit that was exceeded.
#[derive(Serialize, Deserialize)]
struct Exceeded {
    what: String,
    limit: u64,
    /// The number of the rule's file, whose name may differ in another run, and its place there.
    rule: Option<(usize, String)>,
    term: Option<String>,
}

impl NetworkCache {
    /// The networks in a folder, which is made when the first one is written. If the files take
    /// more than `bytes`, those that were not used for the longest time are deleted.
    pub fn new(folder: impl Into<PathBuf>, bytes: u64) -> Self {
        NetworkCache {
            folder: folder.into(),
            bytes,
        }
    }

    /// The networks of a user: in the folder that the environment variable `GGP_CACHE` names, or
    /// else in `ggp` of the user's folder for caches. `None` if `GGP_CACHE` is empty, or there is
    /// no folder for caches.
    pub fn of_user(bytes: u64) -> Option<Self> {
        let folder = match env::var_os("GGP_CACHE") {
            Some(folder) if folder.is_empty() => return None,
            Some(folder) => PathBuf::from(folder),
            None => choose_native_strategy().ok()?.cache_dir().join("ggp"),
        };
        Some(NetworkCache::new(folder, bytes))
    }

    /// The network of an earlier run.
    pub(super) fn kept(&self, game: &Game, limits: &GroundLimits) -> Option<Propnet> {
        let digest = digest(game, limits, true);
        read(&self.path(&digest), &digest, game)?.ok()
    }

    /// The outcome of an earlier run, or of `make`, which is then kept if it took some time and
    /// does not depend on that. `has_goals` tells whether the network has the rules for goals.
    /// Errors of files are ignored: without them the network is made.
    pub(super) fn outcome(
        &self,
        game: &Game,
        limits: &GroundLimits,
        has_goals: bool,
        make: impl FnOnce() -> Result<Propnet, GroundError>,
    ) -> Result<Propnet, GroundError> {
        let digest = digest(game, limits, has_goals);
        let path = self.path(&digest);
        if let Some(outcome) = read(&path, &digest, game) {
            return outcome;
        }
        let began = Instant::now();
        let outcome = make();
        let took = began.elapsed();
        let is_late = limits.time.is_some_and(|time| took >= time) || limits.stop.is_over();
        if took >= WORTH
            && !is_late
            && let Some(content) = content(game, &digest, &outcome)
        {
            // The next run makes the network again.
            let _ = self.write(&path, &content);
        }
        outcome
    }

    /// The file of a network.
    fn path(&self, digest: &Digest) -> PathBuf {
        let name = digest.iter().fold(String::new(), |mut name, byte| {
            let _ = write!(name, "{byte:02x}");
            name
        });
        self.folder.join(name).with_extension(EXTENSION)
    }

    /// Writes a file, whole or not at all.
    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let size = content.len() as u64;
        if size > self.bytes {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        self.make_room(self.bytes - size)?;
        let mut file = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(&self.folder)?;
        file.write_all(content)?;
        file.persist(path)?;
        Ok(())
    }

    /// Deletes the files that were not used for the longest time until the others take at most
    /// `bytes`.
    fn make_room(&self, bytes: u64) -> io::Result<()> {
        let mut files = Vec::new();
        let mut total = 0;
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let path = entry.path();
            let is_ours = path.extension().is_some_and(|ending| ending == EXTENSION)
                || entry.file_name().to_string_lossy().starts_with(UNFINISHED);
            // Another process may just have deleted it.
            if let (true, Ok(known)) = (is_ours, entry.metadata()) {
                total += known.len();
                files.push((known.modified()?, known.len(), path));
            }
        }
        files.sort();
        for (_, size, path) in files {
            if total <= bytes {
                break;
            }
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => total -= size,
            }
        }
        Ok(())
    }
}

/// The digest of all that a network depends on.
fn digest(game: &Game, limits: &GroundLimits, has_goals: bool) -> Digest {
    let mut text = format!(
        "{:?}",
        (
            // A program reads only what the same sources made.
            (env!("CARGO_PKG_VERSION"), env!("GGP_SOURCES")),
            (limits.facts, limits.work, limits.instances),
            (limits.memory, limits.symbols),
            (limits.approach, limits.rewrites, limits.passes),
            has_goals,
        )
    );
    // The numbers of functors, which terms are made of.
    for (functor, form) in game.functors().iter() {
        let name = game.symbols().name(form.name);
        let _ = write!(text, "\n{} {name:?} {:?}", functor.index(), form.shape);
    }
    for file in game.sources().files() {
        let _ = write!(text, "\n{}:{}", file.text().len(), file.text());
    }
    let hash = Sha256::hash(text.as_bytes());
    *hash.first_chunk().expect("a hash is longer")
}

/// The outcome in a file. `None` if there is no such file, it is damaged, or it belongs to another
/// game.
fn read(path: &Path, digest: &Digest, game: &Game) -> Option<Result<Propnet, GroundError>> {
    let content = fs::read(path).ok()?;
    let (content, checksum) = content.split_at_checked(content.len().checked_sub(CHECKSUM)?)?;
    if crc32fast::hash(content).to_le_bytes() != checksum {
        return None;
    }
    let content = content.strip_prefix(digest)?;
    let outcome = match postcard::from_bytes::<Result<Stored, Exceeded>>(content).ok()? {
        Ok(stored) => Ok(stored.restored(game)?),
        Err(exceeded) => Err(GroundError::TooLarge(exceeded.restored(game))),
    };
    // It was used now. Where that cannot be noted, it is only deleted earlier.
    let now = File::options().append(true).open(path);
    let _ = now.and_then(|file| file.set_modified(SystemTime::now()));
    Some(outcome)
}

/// The content of a file. `None` if an outcome is not kept.
fn content(
    game: &Game,
    digest: &Digest,
    outcome: &Result<Propnet, GroundError>,
) -> Option<Vec<u8>> {
    let stored = match outcome {
        Ok(net) => Ok(Stored::new(net)),
        Err(GroundError::TooLarge(excess)) => Err(Exceeded::new(excess, game)),
        Err(GroundError::Interrupted) => return None,
    };
    let mut content = postcard::to_extend(&stored, digest.to_vec()).ok()?;
    content.extend(crc32fast::hash(&content).to_le_bytes());
    Some(content)
}

impl Exceeded {
    fn new(excess: &Excess, game: &Game) -> Exceeded {
        let place = |rule: &String| {
            let mut files = game.sources().files().iter().enumerate();
            files.find_map(|(number, file)| Some((number, rule.strip_prefix(file.name())?.into())))
        };
        Exceeded {
            what: excess.what.clone().into_owned(),
            limit: excess.limit,
            rule: excess.rule.as_ref().and_then(place),
            term: excess.term.clone(),
        }
    }

    fn restored(self, game: &Game) -> Excess {
        let files = game.sources().files();
        let place = |(number, place): (usize, String)| {
            Some(format!("{}{place}", files.get(number)?.name()))
        };
        Excess {
            what: self.what.into(),
            limit: self.limit,
            rule: self.rule.and_then(place),
            term: self.term,
        }
    }
}

impl Stored {
    fn new(net: &Propnet) -> Stored {
        let terms = net.terms();
        let mut numbers = Numbers {
            of: vec![None; terms.len()],
            terms: &terms,
            count: 0,
            list: Vec::new(),
        };
        Stored {
            facts: net.facts.iter().map(|&fact| numbers.of(fact)).collect(),
            moves: (net.moves.iter())
                .map(|moves| moves.iter().map(|made| numbers.of(made.term())).collect())
                .collect(),
            goals: (net.goals.iter())
                .map(|goals| {
                    let goals = goals.iter();
                    goals
                        .map(|&(value, goal)| (numbers.of(value), goal))
                        .collect()
                })
                .collect(),
            count: numbers.count as usize,
            terms: numbers.list,
            network: net.network.clone(),
            initial: net.initial.clone(),
            next: net.next.clone(),
            legal: net.legal.clone(),
            terminal: net.terminal,
            assumed: net.assumed.clone(),
            exclusive: net.exclusive.clone(),
        }
    }

    /// The network of a game. `None` if its terms are not terms of the game, or too many.
    fn restored(self, game: &Game) -> Option<Propnet> {
        let functors: Vec<FunctorId> = game.functors().iter().map(|(id, _)| id).collect();
        let mut terms = game.terms().clone();
        // Each takes two numbers at least, so a wrong count makes no room for more than there are.
        let count = self.count.min(self.terms.len() / 2);
        terms.reserve(count);
        let mut made: Vec<TermId> = Vec::with_capacity(count);
        let (mut arguments, mut rest) = (Vec::new(), &self.terms[..]);
        while let [functor, arity, after @ ..] = rest {
            let (given, next) = after.split_at_checked(*arity as usize)?;
            arguments.clear();
            for &argument in given {
                arguments.push(*made.get(argument as usize)?);
            }
            let functor = *functors.get(*functor as usize)?;
            made.push(terms.intern(functor, &arguments).ok()?);
            rest = next;
        }
        let term = |&number: &u32| made.get(number as usize).copied();
        Some(Propnet {
            game: game.clone(),
            facts: self.facts.iter().map(term).collect::<Option<_>>()?,
            moves: (self.moves.iter())
                .map(|moves| moves.iter().map(|made| term(made).map(Move::new)).collect())
                .collect::<Option<_>>()?,
            goals: (self.goals.iter())
                .map(|goals| {
                    let goals = goals.iter();
                    goals
                        .map(|(value, goal)| Some((term(value)?, *goal)))
                        .collect()
                })
                .collect::<Option<_>>()?,
            network: self.network,
            initial: self.initial,
            next: self.next,
            legal: self.legal,
            terminal: self.terminal,
            assumed: self.assumed,
            exclusive: self.exclusive,
        })
    }
}

/// Numbers for terms, given as they are needed.
struct Numbers<'t> {
    /// By term.
    of: Vec<Option<u32>>,
    terms: &'t Terms,
    count: u32,
    list: Vec<u32>,
}

impl Numbers<'_> {
    fn of(&mut self, term: TermId) -> u32 {
        if let Some(number) = self.of[term.index()] {
            return number;
        }
        let arguments = self.terms.arguments(term).to_vec();
        let arguments = arguments.into_iter().map(|argument| self.of(argument));
        let arguments: Vec<u32> = arguments.collect();
        let functor = self.terms.functor(term).index() as u32;
        self.list.extend([functor, arguments.len() as u32]);
        self.list.extend(arguments);
        let number = self.count;
        self.count += 1;
        self.of[term.index()] = Some(number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::propnet::{Passes, Rewrites};

    /// A counter that two players move, with facts that have terms in terms.
    const RULES: &str = "(role left) (role right) (after 0 1) (after 1 2) (after 2 3)
        (init (at (place left 0))) (init (at (place right 0)))
        (<= (legal ?r stay) (role ?r))
        (<= (legal ?r (go ?n)) (true (at (place ?r ?m))) (after ?m ?n))
        (<= (next (at (place ?r ?n))) (does ?r (go ?n)))
        (<= (next (at (place ?r ?n))) (does ?r stay) (true (at (place ?r ?n))))
        (<= (reach ?a ?b) (after ?a ?b)) (<= (reach ?a ?c) (reach ?a ?b) (after ?b ?c))
        (<= terminal (true (at (place ?r 3))))
        (<= (goal ?r 100) (true (at (place ?r ?n))) (reach 2 ?n))
        (<= (goal ?r 0) (true (at (place ?r ?n))) (not (reach 2 ?n)))";

    fn game(name: &str) -> Game {
        Game::from_text(name, RULES).expect("it has no errors")
    }

    fn made(game: &Game, limits: &GroundLimits) -> Result<Propnet, GroundError> {
        let uncached = GroundLimits {
            cache: None,
            ..limits.clone()
        };
        Propnet::simplified(game, &uncached)
    }

    #[test]
    fn a_network_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let cache = NetworkCache::new(folder.path().join("new"), 1 << 20);
        let limits = GroundLimits::default();
        let first = game("one.kif");
        let outcome = made(&first, &limits);
        let written = content(&first, &digest(&first, &limits, true), &outcome).unwrap();
        let path = cache.path(&digest(&first, &limits, true));
        cache.write(&path, &written).unwrap();
        // Another run: other terms may come first, and the file may have another name.
        let again = game("other/two.kif");
        assert_eq!(cache.path(&digest(&again, &limits, true)), path);
        let functors = again.functors().iter();
        let constants: Vec<FunctorId> = functors
            .filter(|(_, form)| form.shape == ggp_gdl::program::Shape::Bare)
            .map(|(id, _)| id)
            .collect();
        for &functor in constants.iter().rev() {
            again.terms().clone().intern(functor, &[]).unwrap();
        }
        let net = read(&path, &digest(&again, &limits, true), &again)
            .unwrap()
            .unwrap();
        assert_eq!(
            content(&again, &digest(&again, &limits, true), &Ok(net.clone())).unwrap(),
            written
        );
        let expected = made(&again, &limits).unwrap();
        assert_eq!(
            (net.facts(), net.moves()),
            (expected.facts(), expected.moves())
        );
        assert_eq!(
            (net.next(), net.legal()),
            (expected.next(), expected.legal())
        );
        assert_eq!(net.goals(), expected.goals());
        assert_eq!(
            format!("{:?}", net.network()),
            format!("{:?}", expected.network())
        );
    }

    #[test]
    fn damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.network");
        let game = game("one.kif");
        let limits = GroundLimits::default();
        let known = digest(&game, &limits, true);
        let whole = content(&game, &known, &made(&game, &limits)).unwrap();
        for length in [0, 3, 4, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(read(&path, &known, &game).is_none(), "{length} bytes");
        }
        for place in (0..whole.len()).step_by(7) {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << (place % 8);
            fs::write(&path, &damaged).unwrap();
            assert!(read(&path, &known, &game).is_none(), "byte {place}");
        }
        fs::write(&path, &whole).unwrap();
        assert!(read(&path, &known, &game).is_some());
        // The file of other rules under this name.
        assert!(read(&path, &Digest::default(), &game).is_none());
    }

    #[test]
    fn all_that_a_network_depends_on_is_in_its_name() {
        let limits = GroundLimits::default();
        let known = digest(&game("one.kif"), &limits, true);
        let changes: [fn(&mut GroundLimits); 7] = [
            |limits| limits.facts = 10,
            |limits| limits.work = 10,
            |limits| limits.instances = 10,
            |limits| limits.memory = 10,
            |limits| limits.symbols = 10,
            |limits| limits.rewrites = Rewrites::NONE,
            |limits| limits.passes = Passes::NONE,
        ];
        for change in changes {
            let mut limits = limits.clone();
            change(&mut limits);
            assert_ne!(digest(&game("one.kif"), &limits, true), known);
        }
        assert_ne!(digest(&game("one.kif"), &limits, false), known);
        let text = format!("{RULES} ");
        let longer = Game::from_text("one.kif", &text).expect("it has no errors");
        assert_ne!(digest(&longer, &limits, true), known);
    }

    #[test]
    fn networks_with_goals_and_without_are_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let cache = NetworkCache::new(folder.path(), 1 << 20);
        let (game, limits) = (game("one.kif"), GroundLimits::default());
        let outcome = |has_goals, is_new| {
            let mut is_made = false;
            let net = cache.outcome(&game, &limits, has_goals, || {
                is_made = true;
                std::thread::sleep(WORTH);
                match has_goals {
                    true => Propnet::simplified(&game, &limits),
                    false => Propnet::without_goals(&game, &limits),
                }
            });
            assert_eq!(is_made, is_new);
            net.expect("the game is small").goals
        };
        let none = outcome(false, true);
        assert!(none.iter().all(Vec::is_empty));
        let some = outcome(true, true);
        assert!(!some.iter().any(Vec::is_empty));
        assert_eq!((outcome(false, false), outcome(true, false)), (none, some));
    }

    #[test]
    fn a_limit_that_was_exceeded_is_kept_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.network");
        let limits = GroundLimits {
            instances: 3,
            ..GroundLimits::default()
        };
        let known = game("one.kif");
        let outcome = made(&known, &limits);
        let name = Digest::default();
        fs::write(&path, content(&known, &name, &outcome).unwrap()).unwrap();
        let again = game("other/two.kif");
        let expected = made(&again, &limits).unwrap_err();
        assert!(
            expected.to_string().contains("other/two.kif:"),
            "{expected}"
        );
        assert_eq!(read(&path, &name, &again).unwrap().unwrap_err(), expected);
        let interrupted = Err(GroundError::Interrupted);
        assert!(content(&known, &name, &interrupted).is_none());
    }

    #[test]
    fn the_files_that_were_not_used_are_deleted_first() {
        let folder = tempfile::tempdir().unwrap();
        let cache = NetworkCache::new(folder.path(), 1_000);
        let file = |name: &str| folder.path().join(name);
        fs::write(file("mine.txt"), [0; 5_000]).unwrap();
        let names = ["a.network", "b.network", "unfinished-c", "d.network"];
        for (name, age) in names.iter().zip([10, 40, 30, 20]) {
            fs::write(file(name), [0; 250]).unwrap();
            let opened = File::options().append(true).open(file(name)).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            opened.set_modified(time).unwrap();
        }
        cache.write(&file("e.network"), &[0; 400]).unwrap();
        let kept = |name: &&str| file(name).exists();
        assert_eq!(names.iter().filter(|name| kept(name)).count(), 2);
        assert!(kept(&"a.network") && kept(&"d.network") && kept(&"e.network"));
        assert!(kept(&"mine.txt"), "it is not ours");
        // What does not fit at all is not written.
        cache.write(&file("f.network"), &[0; 1_001]).unwrap();
        assert!(!kept(&"f.network"));
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 4, "nothing unfinished is left");
    }
}
