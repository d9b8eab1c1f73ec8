//! A type without values, in place of the networks of earlier runs where there are no files.

use super::{GroundError, GroundLimits, Propnet};
use ggp_gdl::game::Game;

/// A folder of networks, which only exists with the feature `cache`.
#[derive(Clone, Debug)]
pub enum NetworkCache {}

impl NetworkCache {
    pub(super) fn kept(&self, _: &Game, _: &GroundLimits) -> Option<Propnet> {
        match *self {}
    }

    pub(super) fn outcome(
        &self,
        _: &Game,
        _: &GroundLimits,
        _: bool,
        _: impl FnOnce() -> Result<Propnet, GroundError>,
    ) -> Result<Propnet, GroundError> {
        match *self {}
    }
}
