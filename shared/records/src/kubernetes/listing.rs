//! One whole listing of a namespace, page by page, at one point in time.
//!
//! A record that a listing leaves out would be taken for absent and built again. So a listing is whole, or an
//! error: its pages are of one time, their remaining count falls to nothing, and what is cut off as too old
//! begins again.

use k8s_openapi::api::core::v1::Secret;
use kube::api::ListMeta;

use super::Refusal;
use super::refusal::ListingProblem;
use super::requests::{PageFailure, Requests};
use crate::StoreError;

/// How often a listing that is cut off as too old begins.
const STARTS: u32 = 5;

/// What a whole listing found.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// How many Secrets the namespace has.
    pub(super) count: usize,
    /// Those that were kept.
    pub(super) kept: Vec<Secret>,
}

/// Lists every Secret of the namespace, and keeps of each what `keep` leaves of it: a namespace may hold much
/// that is nobody's concern here.
pub(super) async fn all_secrets(
    requests: &Requests,
    page_size: u32,
    keep: impl Fn(Secret) -> Option<Secret>,
) -> Result<Listing, StoreError> {
    for _ in 0..STARTS {
        match from_the_start(requests, page_size, &keep).await {
            Ok(listing) => return Ok(listing),
            Err(PageFailure::Gone) => {}
            Err(PageFailure::Store(error)) => return Err(error),
        }
    }
    Err(untrusted(requests, ListingProblem::AlwaysGone { starts: STARTS }))
}

async fn from_the_start(
    requests: &Requests,
    page_size: u32,
    keep: &impl Fn(Secret) -> Option<Secret>,
) -> Result<Listing, PageFailure> {
    let mut listing = Listing::default();
    let mut progress = Progress::default();
    loop {
        let page = requests.page(page_size, progress.token()).await?;
        let more = progress.take(&page.metadata, page.items.len());
        let more = more.map_err(|problem| PageFailure::Store(untrusted(requests, problem)))?;
        listing.count += page.items.len();
        listing.kept.extend(page.items.into_iter().filter_map(keep));
        if !more {
            return Ok(listing);
        }
    }
}

fn untrusted(requests: &Requests, problem: ListingProblem) -> StoreError {
    Refusal::ListingWithoutEnd { problem, place: requests.place.clone() }.into()
}

/// How far a listing has come.
#[derive(Debug, Default)]
struct Progress {
    token: Option<String>,
    remaining: Option<i64>,
    version: Option<String>,
}

impl Progress {
    fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Takes in what a page says of itself and answers whether another follows.
    fn take(&mut self, page: &ListMeta, items: usize) -> Result<bool, ListingProblem> {
        if self.token.is_some() && page.resource_version != self.version {
            return Err(ListingProblem::VersionMoves);
        }
        self.version.clone_from(&page.resource_version);
        let remaining = page.remaining_item_count.filter(|count| *count > 0);
        let token = page.continue_.clone().filter(|token| !token.is_empty());
        let Some(token) = token else {
            return match remaining {
                None => Ok(false),
                Some(remaining) => Err(ListingProblem::EndsEarly { remaining }),
            };
        };
        if items == 0 {
            return Err(ListingProblem::EmptyPage);
        }
        if self.token.as_ref() == Some(&token) {
            return Err(ListingProblem::SameToken);
        }
        // A server may leave the count out; one that gives it has to count down.
        if let (Some(before), Some(remaining)) = (self.remaining, remaining)
            && remaining >= before
        {
            return Err(ListingProblem::RemainderStays { remaining });
        }
        self.remaining = remaining.or(self.remaining);
        self.token = Some(token);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(token: &str, remaining: Option<i64>, version: &str) -> ListMeta {
        ListMeta {
            continue_: Some(token.to_owned()),
            remaining_item_count: remaining,
            resource_version: Some(version.to_owned()),
            ..Default::default()
        }
    }

    fn outcome(pages: &[(ListMeta, usize)]) -> Result<bool, ListingProblem> {
        let mut progress = Progress::default();
        let mut last = Ok(true);
        for (page, items) in pages {
            last = progress.take(page, *items);
            last?;
        }
        last
    }

    #[test]
    fn a_whole_listing_ends() {
        let pages =
            [(page("a", Some(3), "7"), 2), (page("b", Some(1), "7"), 2), (page("", None, "7"), 1)];
        assert_eq!(outcome(&pages), Ok(false));
        assert_eq!(outcome(&[(page("", Some(0), "7"), 0)]), Ok(false));
        assert_eq!(outcome(&[(page("a", None, "7"), 2), (page("b", None, "7"), 2)]), Ok(true));
    }

    #[test]
    fn what_does_not_come_to_an_end_is_refused() {
        let stays = [(page("a", Some(3), "7"), 2), (page("b", Some(3), "7"), 2)];
        assert_eq!(outcome(&stays), Err(ListingProblem::RemainderStays { remaining: 3 }));
        let early = [(page("a", Some(3), "7"), 2), (page("", Some(1), "7"), 2)];
        assert_eq!(outcome(&early), Err(ListingProblem::EndsEarly { remaining: 1 }));
        assert_eq!(outcome(&[(page("a", None, "7"), 0)]), Err(ListingProblem::EmptyPage));
        let same = [(page("a", None, "7"), 2), (page("a", None, "7"), 2)];
        assert_eq!(outcome(&same), Err(ListingProblem::SameToken));
        let moves = [(page("a", None, "7"), 2), (page("", None, "8"), 2)];
        assert_eq!(outcome(&moves), Err(ListingProblem::VersionMoves));
    }
}
