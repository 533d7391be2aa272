//! The backend `http`: one address that answers with the state.

use super::{BackendError, BackendSettings, BackendState};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use engine::existing_state::DEFAULT_WORKSPACE;
use http::header::AUTHORIZATION;
use http::{Request, StatusCode};
use providers::https::{Https, basic, shown};
use url::Url;

const USED: [&str; 4] = ["address", "username", "password", "headers"];
/// For writers and locks, and how often to try again.
const IGNORED: [&str; 8] = [
    "update_method",
    "lock_address",
    "lock_method",
    "unlock_address",
    "unlock_method",
    "retry_max",
    "retry_wait_min",
    "retry_wait_max",
];
/// A state is no larger than this.
const MOST: u64 = 1 << 30;

pub(super) async fn read(
    settings: &BackendSettings,
    workspace: &str,
    https: &dyn Https,
) -> Result<BackendState, BackendError> {
    settings.check(&USED, &IGNORED)?;
    let address = settings.required("address")?;
    let mut address: Url = address.parse().map_err(|_| settings.wrong("address", "is no URL"))?;
    // Without what authorises: it is told, and noted in the estate's record.
    let place = shown(&address);
    if workspace != DEFAULT_WORKSPACE {
        return Err(
            settings.wrong("address", "is that of one state: this backend has no workspaces")
        );
    }
    let of_address = basic(&address);
    // An address that cannot have them has none.
    let _ = (address.set_username(""), address.set_password(None));
    let mut request = Request::get(address.as_str());
    if let Some(name) = settings.text("username")? {
        let password = settings.text("password")?.unwrap_or_default();
        let token = STANDARD.encode(format!("{name}:{password}"));
        request = request.header(AUTHORIZATION, format!("Basic {token}"));
    } else if let Some(authorization) = of_address {
        request = request.header(AUTHORIZATION, authorization);
    }
    for (name, value) in settings.texts("headers")? {
        request = request.header(name, value);
    }
    let refused = |problem: String| BackendError::Refused { place: place.clone(), problem };
    let request = request.body(Bytes::new()).map_err(|error| refused(error.to_string()))?;
    let answer = https.send(request, MOST).await?;
    let file = match answer.status() {
        StatusCode::OK if !answer.body().is_empty() => Some(answer.into_body()),
        StatusCode::OK | StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => None,
        status => return Err(refused(format!("the server answers {status}"))),
    };
    Ok(BackendState { place, file })
}
