//! Rule sets: the bundled games, and those that sessions upload.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::answer::{ApiError, JsonBody};
use super::bundled;
use super::session::{Visitor, locked};
use super::turns::Turn;
use super::workers::{self, Pace};
use super::{AppState, Shared};
use ggp_answers::{CheckReport, File, GameDescription, LoadedGame, Refusal};
use ggp_answers::{Role, RuleSet, Rules};
use ggp_engine::propnet::NetworkCache;
use ggp_gdl::counted::counted;
use ggp_stop::Stop;

/// The time for work to end after its stop was raised.
const GRACE: Duration = Duration::from_secs(1);

/// The games that are ready for use. Beyond a size in bytes, those that were not used the
/// longest are dropped; they are read again when they are requested.
#[derive(Debug)]
pub(super) struct GameStore {
    loaded: Mutex<FxHashMap<String, Loaded>>,
    bytes: usize,
    networks: Option<NetworkCache>,
}

#[derive(Debug)]
struct Loaded {
    game: Arc<LoadedGame>,
    used: Instant,
}

impl GameStore {
    /// A store of games of `bytes` in total, and the networks of other runs.
    pub(super) fn new(bytes: usize, networks: Option<NetworkCache>) -> Self {
        GameStore {
            loaded: Mutex::default(),
            bytes,
            networks,
        }
    }

    /// A game that is ready.
    fn ready(&self, id: &str) -> Option<Arc<LoadedGame>> {
        let mut loaded = locked(&self.loaded);
        let game = loaded.get_mut(id).map(|found| {
            found.used = Instant::now();
            Arc::clone(&found.game)
        });
        if game.as_ref().is_some_and(|game| game.is_stale()) {
            loaded.remove(id);
            return None;
        }
        Self::drop_least_used(&mut loaded, self.bytes);
        game
    }

    /// Reads rules, unless they are ready.
    ///
    /// # Errors
    ///
    /// The report about them, if they have errors.
    fn read(&self, rules: Arc<Rules>, stop: &Stop) -> Result<Arc<LoadedGame>, CheckReport> {
        if let Some(game) = self.ready(&rules.id) {
            return Ok(game);
        }
        let game = LoadedGame::new(rules, self.bytes, stop)?;
        let game = Arc::new(game.with_networks(self.networks.clone()));
        let mut loaded = locked(&self.loaded);
        let known = loaded.entry(game.rules.id.clone()).or_insert(Loaded {
            game,
            used: Instant::now(),
        });
        let game = Arc::clone(&known.game);
        Self::drop_least_used(&mut loaded, self.bytes);
        Ok(game)
    }

    /// A bundled game.
    fn bundled(&self, id: &str, stop: &Stop) -> Option<Arc<LoadedGame>> {
        let files = bundled::files(id).into_iter().map(|name| {
            let text = bundled::text(&name)?;
            Some(File { name, text })
        });
        let rules = Rules {
            id: id.to_owned(),
            is_bundled: true,
            set: RuleSet {
                files: files.collect::<Option<Vec<File>>>()?,
                picture: bundled::picture(id, bundled::text),
            },
        };
        self.read(Arc::new(rules), stop).ok()
    }

    /// The bundled games that are complete. Rules that need an instance have findings.
    pub(super) fn complete(&self, stop: &Stop) -> impl Iterator<Item = Arc<LoadedGame>> {
        let names = bundled::names().into_iter();
        let games = names.filter_map(|name| self.bundled(&name, stop));
        games.filter(|game| game.findings.is_empty())
    }

    /// Drops games until those that remain are small enough.
    pub(super) fn shrink(&self, bytes: usize) {
        Self::drop_least_used(&mut locked(&self.loaded), bytes);
    }

    /// The approximate size of all games in bytes.
    pub(super) fn size(&self) -> usize {
        let loaded = locked(&self.loaded);
        loaded.values().map(|one| one.game.bytes()).sum()
    }

    fn drop_least_used(loaded: &mut FxHashMap<String, Loaded>, bytes: usize) {
        let mut size: usize = loaded.values().map(|one| one.game.bytes()).sum();
        while size > bytes && loaded.len() > 1 {
            let oldest = loaded.iter().min_by_key(|(_, one)| one.used);
            let id = oldest.map(|(id, _)| id.clone()).expect("there are some");
            size -= loaded.remove(&id).map_or(0, |one| one.game.bytes());
        }
    }
}

/// A game in a list.
#[derive(Serialize)]
pub(super) struct Card {
    id: String,
    /// The game of which this one is a size or another variant, or its own name.
    family: String,
    name: String,
    about: String,
    roles: Vec<Role>,
    /// The place among the games whose matches are shown at the top, from 1 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    featured: Option<usize>,
}

impl Card {
    pub(super) fn is_featured(&self) -> bool {
        self.featured.is_some()
    }

    pub(super) fn new(game: &LoadedGame) -> Self {
        Card {
            id: game.rules.id.clone(),
            family: bundled::family(&game.rules.id).to_owned(),
            name: game.name(),
            about: game.about(),
            roles: game.roles(),
            featured: bundled::featured(&game.rules.id),
        }
    }
}

/// A bundled game, or a game of the session. Bundled rules that need an instance get their first.
///
/// # Errors
///
/// If there is no such game.
pub(super) async fn find(
    app: &Arc<AppState>,
    visitor: &Visitor,
    id: &str,
) -> Result<Arc<LoadedGame>, ApiError> {
    let missing = ApiError::missing(format!(
        "there is no game `{id}`; your own rules expire after a while: please load them again"
    ));
    let rules = visitor.session.rules(id);
    if rules.is_none() && !bundled::exists(id) {
        return Err(missing);
    }
    let id = match rules {
        Some(_) => id.to_owned(),
        None => bundled::playable(id),
    };
    if let Some(game) = app.shelf.ready(&id) {
        return Ok(game);
    }
    let shelf = Arc::clone(app);
    blocking(app, visitor, move |turn| {
        let shelf = &shelf.shelf;
        let game = match rules {
            Some(rules) => shelf.read(rules, turn.stop()).ok(),
            None => shelf.bundled(&id, turn.stop()),
        };
        game.ok_or(missing)
    })
    .await
}

/// Answers a question on a thread.
///
/// # Errors
///
/// Those of the work; if too many questions wait; if it takes too long.
pub(super) async fn blocking<T: Send + 'static>(
    app: &Arc<AppState>,
    visitor: &Visitor,
    work: impl FnOnce(&Turn) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let turn = app.questions.take(&visitor.asker).await.ok_or_else(|| {
        ApiError::busy("you ask too many questions at once: wait for some answers first")
    })?;
    let limit = app.limits.question;
    // The client may be gone before the answer is there.
    let _gone = RaiseOnDrop(turn.stop().clone());
    let done = workers::run(turn.pace(Pace::Quick), move || {
        let done = work(&turn);
        done.map_err(|error| ended(turn.stop(), limit).unwrap_or(error))
    });
    match tokio::time::timeout(limit + GRACE, done).await {
        Ok(Some(done)) => done,
        Ok(None) => Err(ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal error; the server is still running",
        )),
        Err(_) => Err(too_late(limit)),
    }
}

struct RaiseOnDrop(Stop);

impl Drop for RaiseOnDrop {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// The reason why work was stopped, if it was.
fn ended(stop: &Stop, limit: Duration) -> Option<ApiError> {
    match (stop.is_raised(), stop.is_late()) {
        (true, _) => Some(Refusal::short_of_memory().into()),
        (false, true) => Some(too_late(limit)),
        (false, false) => None,
    }
}

fn too_late(limit: Duration) -> ApiError {
    ApiError::rules(format!(
        "there was no answer within {}; `ggp web --max-question` sets the limit",
        counted(limit.as_secs_f64(), "second")
    ))
}

/// Reads rules, after checking the form of the upload.
pub(super) async fn reading<T: Send + 'static>(
    app: &Arc<AppState>,
    visitor: &Visitor,
    set: RuleSet,
    read: impl FnOnce(RuleSet, &Stop) -> T + Send + 'static,
) -> Result<T, ApiError> {
    set.check_form()?;
    blocking(app, visitor, move |turn| {
        let read = read(set, turn.stop());
        match turn.stop().is_over() {
            true => Err(ApiError::rules("the rules were not read")),
            false => Ok(read),
        }
    })
    .await
}

/// Lists the bundled games.
pub(super) async fn games(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
) -> Result<Json<Vec<Card>>, ApiError> {
    let all = Arc::clone(&app);
    let cards = blocking(&app, &visitor, move |turn| {
        let games = all.shelf.complete(turn.stop());
        Ok(games.map(|game| Card::new(&game)).collect())
    });
    Ok(Json(cards.await?))
}

/// Stores rules, if they have no errors.
pub(super) async fn load(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    JsonBody(set): JsonBody<RuleSet>,
) -> Result<Response, ApiError> {
    let all = Arc::clone(&app);
    let read = reading(&app, &visitor, set, move |set, stop| {
        all.shelf.read(Arc::new(Rules::uploaded(set)), stop)
    });
    let loaded = match read.await? {
        Ok(loaded) => loaded,
        Err(check) => return Ok((StatusCode::UNPROCESSABLE_ENTITY, Json(check)).into_response()),
    };
    loaded.check_picture()?;
    (app.sessions).keep(&visitor.session, Arc::clone(&loaded.rules));
    Ok(Json(GameDescription::new(&loaded)).into_response())
}

/// Describes a game.
pub(super) async fn game(
    State(app): Shared,
    Extension(visitor): Extension<Visitor>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    let game = find(&app, &visitor, &id).await?;
    Ok(Json(GameDescription::new(&game)).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ggp_engine::machine::{Limits, PropnetMachine};
    use ggp_learn::{Options, learn};

    #[test]
    fn learned_values_count_as_soon_as_they_are_kept() {
        let text = "(role r) (init a) (legal r go) (<= (next b) (true a)) \
                    (<= terminal (true b)) (goal r 0)";
        let rules = Arc::new(Rules::uploaded(RuleSet::one("one", text)));
        let game = LoadedGame::new(rules, 0, &Stop::new());
        let game = game.expect("it has no errors");
        let before = game.bytes();
        let machine = PropnetMachine::new(&game.game, Limits::default());
        let options = Options {
            games: Some(1),
            ..Options::default()
        };
        let net = machine.expect("it has a network");
        let fresh = learn(net.net(), &options, &Stop::new(), |_| ());
        let kept = game.keep(fresh);
        assert!(kept.values.bytes() > 0);
        assert_eq!(game.bytes(), before + kept.values.bytes());
    }

    #[test]
    fn the_least_used_games_are_dropped_and_read_again() {
        let text = "(role r) (init a) (legal r go) (next a) (terminal) (goal r 0)";
        let rules =
            ["one", "two", "three"].map(|name| Arc::new(Rules::uploaded(RuleSet::one(name, text))));
        let [one, two, three] = &rules;
        let size = |rules: &Arc<Rules>| {
            let game = LoadedGame::new(Arc::clone(rules), 0, &Stop::new());
            game.expect("they have no errors").bytes()
        };
        let bytes = size(one) + size(two) + size(three) - 1;
        let store = GameStore::new(bytes, None);
        let read = |rules: &Arc<Rules>| store.read(Arc::clone(rules), &Stop::new());
        for rules in [one, two] {
            read(rules).expect("they have no errors");
        }
        assert!(store.ready(&one.id).is_some());
        read(three).expect("they have no errors");
        assert!(store.ready(&two.id).is_none());
        assert!(store.ready(&one.id).is_some() && store.size() <= bytes);
        read(two).expect("they have no errors");
        assert!(store.ready(&three.id).is_none());
    }
}
