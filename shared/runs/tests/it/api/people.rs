//! What people ask for, and who may.

use super::{ADA, DIGEST, GRACE, READER, Scene, body, reference, scene};
use engine::identifiers::{Principal, RunId};
use runs::api::Api;
use runs::approval::{self, Decision};
use runs::run_reference::Mode;
use runs::run_state::{RunState, Status};
use serde_json::json;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

pub(super) async fn started(scene: &Scene) -> String {
    let request = json!({"estate": "network", "commit": COMMIT, "apply": true});
    let response = scene.post(ADA, "/runs", request).await;
    assert_eq!(response.status, 202, "{response:?}");
    let run = body(&response)["run"].as_str().unwrap().to_owned();
    assert_eq!(scene.asked(), [format!("start {run}")]);
    run
}

fn decision(digest: &str) -> serde_json::Value {
    json!({"estate": "network", "plan_digest": digest})
}

#[tokio::test]
async fn nobody_does_what_is_not_theirs_to_do() {
    let scene = scene().await;
    let start = |estate: &str| json!({"estate": estate, "commit": COMMIT});
    assert_eq!(scene.post(READER, "/runs", start("network")).await.status, 403);
    assert_eq!(scene.post(ADA, "/runs", start("service")).await.status, 403);
    // What is not there is answered as what may not be seen.
    assert_eq!(scene.post(GRACE, "/runs", start("nowhere")).await.status, 403);
    assert_eq!(scene.get(Some("stranger"), "/runs", Some("network")).await.status, 403);
    assert_eq!(scene.get(None, "/runs", Some("network")).await.status, 401);
    assert_eq!(scene.get(None, "/estates", None).await.status, 401);
    let run = started(&scene).await;
    scene.wait(&run, "network").await;
    for path in ["approve", "reject", "cancel"] {
        let path = format!("/runs/{run}/{path}");
        let body = match path.ends_with("cancel") {
            true => json!({"estate": "network"}),
            false => decision(DIGEST),
        };
        assert_eq!(scene.post(READER, &path, body).await.status, 403);
    }
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn an_approval_wakes_the_run_and_is_there_before() {
    let scene = scene().await;
    let run = started(&scene).await;
    let path = format!("/runs/{run}/approve");
    assert_eq!(scene.post(GRACE, &path, decision(DIGEST)).await.status, 409, "it does not wait");
    scene.wait(&run, "network").await;
    assert_eq!(scene.post(GRACE, &path, decision("other")).await.status, 409);
    assert_eq!(scene.post(ADA, &path, decision(DIGEST)).await.status, 403, "her own run");
    assert!(scene.asked().is_empty());
    assert_eq!(scene.post(GRACE, &path, decision(DIGEST)).await.status, 202);
    assert_eq!(scene.asked(), [format!("succeed token-of-{run}")]);
    let states = scene.environment.run_states().await.unwrap();
    let state = scene.state(&run, "network").await;
    let found = approval::find(&states, &state.estate, &state.run).await.unwrap().unwrap();
    assert_eq!(found.principal, Principal::from_stored(GRACE));
    assert_eq!(state.status, Status::Approved);
}

#[tokio::test]
async fn a_decision_that_the_run_did_not_hear_of_is_passed_on_by_whoever_decides_likewise() {
    let scene = scene().await;
    let run = started(&scene).await;
    scene.wait(&run, "network").await;
    let states = scene.environment.run_states().await.unwrap();
    let state = scene.state(&run, "network").await;
    let (plan, first) = (state.plan.clone().unwrap(), Principal::from_stored("first"));
    approval::record(&states, &state, &plan, Decision::Approved, &first).await.unwrap();
    let path = format!("/runs/{run}/reject");
    assert_eq!(scene.post(GRACE, &path, decision(DIGEST)).await.status, 409);
    assert!(scene.asked().is_empty());
    let path = format!("/runs/{run}/approve");
    assert_eq!(scene.post(GRACE, &path, decision(DIGEST)).await.status, 202);
    assert_eq!(scene.asked(), [format!("succeed token-of-{run}")]);
    let found = approval::find(&states, &state.estate, &state.run).await.unwrap().unwrap();
    assert_eq!(found.principal, first, "the first decision counts");
}

#[tokio::test]
async fn a_refusal_ends_the_wait() {
    let scene = scene().await;
    let run = started(&scene).await;
    scene.wait(&run, "network").await;
    let path = format!("/runs/{run}/reject");
    assert_eq!(scene.post(GRACE, &path, decision(DIGEST)).await.status, 202);
    assert_eq!(scene.asked(), [format!("fail token-of-{run} Declined")]);
    let path = format!("/runs/{run}/approve");
    assert_eq!(scene.post(GRACE, &path, decision(DIGEST)).await.status, 409, "it was decided");
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn a_run_is_stopped_unless_it_changes_things() {
    let scene = scene().await;
    let run = started(&scene).await;
    let path = format!("/runs/{run}/cancel");
    let estate = || json!({"estate": "network"});
    assert_eq!(scene.post(ADA, &path, estate()).await.status, 202);
    assert_eq!(scene.state(&run, "network").await.cancelled_by, Some(Principal::from_stored(ADA)));
    assert!(scene.asked().is_empty(), "its next step sees it");
    scene.wait(&run, "network").await;
    assert_eq!(scene.post(ADA, &path, estate()).await.status, 202);
    assert_eq!(scene.asked(), [format!("fail token-of-{run} Cancelled")]);

    let run = started(&scene).await;
    let states = scene.environment.run_states().await.unwrap();
    let apply = |state: &mut RunState| state.status = Status::Applying;
    states.change(&reference("network"), &RunId::from_stored(run.as_str()), apply).await.unwrap();
    let path = format!("/runs/{run}/cancel");
    assert_eq!(scene.post(ADA, &path, estate()).await.status, 409);
    assert_eq!(scene.state(&run, "network").await.cancelled_by, None);
}

#[tokio::test]
async fn a_plan_is_applied_later_by_somebody_else_than_its_author() {
    let scene = scene().await;
    let run = started(&scene).await;
    scene.wait(&run, "network").await;
    let request = |digest: &str| json!({"estate": "network", "run": run, "plan_digest": digest});
    assert_eq!(scene.post(ADA, "/plans/p1/apply", request(DIGEST)).await.status, 403);
    assert_eq!(scene.post(GRACE, "/plans/p1/apply", request("other")).await.status, 409);
    assert_eq!(scene.post(GRACE, "/plans/p2/apply", request(DIGEST)).await.status, 409);
    assert!(scene.asked().is_empty());
    let response = scene.post(GRACE, "/plans/p1/apply", request(DIGEST)).await;
    assert_eq!(response.status, 202, "{response:?}");
    let applying = body(&response)["run"].as_str().unwrap().to_owned();
    assert_eq!(scene.asked(), [format!("start {applying}")]);
    let state = scene.state(&applying, "network").await;
    assert_eq!((state.mode, state.plan.is_some()), (Mode::Apply, true));
    let states = scene.environment.run_states().await.unwrap();
    let found = approval::find(&states, &state.estate, &state.run).await.unwrap().unwrap();
    assert_eq!(found.principal, Principal::from_stored(GRACE));
}

#[tokio::test]
async fn task_tokens_are_shown_to_nobody_and_text_is_escaped() {
    let scene = scene().await;
    let run = started(&scene).await;
    scene.wait(&run, "network").await;
    let list = scene.get(Some(READER), "/runs", Some("network")).await;
    let shown = scene.get(Some(READER), &format!("/runs/{run}"), Some("network")).await;
    assert_eq!(body(&list)["runs"][0]["run"], run.as_str());
    assert_eq!(body(&shown)["plan_digest"], DIGEST);
    assert_eq!(body(&shown)["status"], "waiting_for_approval");
    for response in [list, shown] {
        assert!(!response.body.contains("token"), "{}", response.body);
    }
    let missing = scene.get(Some(READER), "/runs/none", Some("network")).await;
    assert_eq!(missing.status, 404);
    let estates = scene.get(Some(READER), "/estates", None).await;
    assert_eq!(body(&estates)["estates"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_not_understood_is_said() {
    let scene = scene().await;
    for (path, request) in [
        ("/runs", json!({"estate": "network"})),
        ("/runs", json!({"estate": "network", "commit": "main"})),
        ("/runs", json!({"estate": "network", "commit": COMMIT, "aply": true})),
        ("/runs", json!({"estate": "..", "commit": COMMIT})),
        ("/runs/x/approve", json!({"estate": "network"})),
    ] {
        let response = scene.post(ADA, path, request).await;
        assert_eq!(response.status, 400, "{response:?}");
        assert!(body(&response)["error"].is_string());
    }
    assert_eq!(scene.get(Some(ADA), "/runs", None).await.status, 400);
    assert_eq!(scene.get(Some(ADA), "/nothing", None).await.status, 404);
    assert_eq!(scene.post(ADA, "/runs//approve", decision(DIGEST)).await.status, 404);
}

#[tokio::test]
async fn a_schedule_looks_at_every_estate_once() {
    let scene = scene().await;
    let look = || async {
        let vault = super::Vault;
        let api = Api::open(&scene.environment, &scene.asked, &vault).await.unwrap();
        api.look_for_drift("2026-01-01T06:00:00Z", None).await.unwrap()
    };
    let runs = look().await;
    assert_eq!(runs.len(), 3);
    assert_eq!(look().await, runs, "the event came twice");
    let state = scene.state(runs[0].as_str(), "network").await;
    assert_eq!(state.mode, Mode::Drift);
    let drift = scene.get(Some(READER), "/estates/network/drift", None).await;
    assert!(body(&drift)["run"].is_null(), "it is still being looked for");
    let states = scene.environment.run_states().await.unwrap();
    let end = |state: &mut RunState| state.status = Status::Told;
    states.change(&state.estate, &state.run, end).await.unwrap();
    let drift = scene.get(Some(READER), "/estates/network/drift", None).await;
    assert_eq!(body(&drift)["run"]["status"], "told");
}

#[tokio::test]
async fn a_browser_gets_a_page_that_says_how_to_approve() {
    let scene = scene().await;
    let run = started(&scene).await;
    scene.wait(&run, "network").await;
    let page = scene.page(READER, &format!("/runs/{run}"), Some("network")).await;
    assert_eq!((page.status, page.content_type), (200, "text/html; charset=utf-8"));
    let approve =
        format!("plumb -estate=network approve -remote=https://api.example -digest={DIGEST} {run}");
    assert!(page.body.contains(&approve), "{}", page.body);
    assert!(!page.body.contains("token-of"), "{}", page.body);
    let again = scene.page(READER, &format!("/runs/{run}"), Some("network")).await;
    assert_eq!(page, again, "the same run gives the same bytes");
    let headers = page.headers();
    let policy = headers.iter().find(|(name, _)| *name == "content-security-policy");
    assert!(policy.unwrap().1.starts_with("default-src 'none'"));
    assert!(policy.unwrap().1.ends_with("form-action 'none'; frame-ancestors 'none'"));
    assert!(headers.contains(&("x-frame-options", "DENY".to_owned())));
    // Who may not see the estate gets no page either.
    assert_eq!(scene.page(READER, &format!("/runs/{run}"), Some("service")).await.status, 403);
}

#[tokio::test]
async fn drift_is_reported_of_the_estates_that_somebody_may_see() {
    let scene = scene().await;
    let api = Api::open(&scene.environment, &scene.asked, &super::Vault).await.unwrap();
    let runs = api.look_for_drift("2026-01-01T06:00:00Z", None).await.unwrap();
    let states = scene.environment.run_states().await.unwrap();
    for (run, estate) in runs.iter().zip(["network", "platform", "service"]) {
        let fails = estate == "service";
        let end = |state: &mut RunState| {
            state.status = if fails { Status::Failed } else { Status::Told };
            state.has_changes = !fails;
            state.code = fails.then(|| "providers".to_owned());
        };
        states.change(&reference(estate), run, end).await.unwrap();
    }
    let seen = body(&scene.get(Some(GRACE), "/drift", None).await);
    let estates: Vec<_> = seen["estates"].as_array().unwrap().iter().collect();
    let outcome = |at: usize| estates[at]["looks"][0]["outcome"].as_str().unwrap().to_owned();
    assert_eq!(estates.len(), 3);
    assert_eq!([outcome(0), outcome(1), outcome(2)], ["drifted", "drifted", "not_checked"]);
    assert_eq!(estates[2]["looks"][0]["code"], "providers");
    let seen = body(&scene.get(Some(READER), "/drift", None).await);
    assert_eq!(seen["estates"].as_array().unwrap().len(), 1);
    let page = scene.page(GRACE, "/drift", None).await;
    assert!(page.body.contains("1 could not be checked"), "{}", page.body);
    assert!(page.body.contains("https://api.example/runs/"), "{}", page.body);
    assert_eq!(scene.get(None, "/drift", None).await.status, 401);
}
