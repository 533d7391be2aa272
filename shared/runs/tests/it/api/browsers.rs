//! Decisions in a browser: the form, where it may come from, and what is said of it.

use super::people::started;
use super::{ADA, DIGEST, GRACE, READER, Scene, reference, scene};
use bytes::Bytes;
use engine::identifiers::{Principal, RunId};
use runs::api::{ApiRequest, ApiResponse, Authentication};
use runs::approval::{self, Decision};
use runs::run_state::{RunState, Status};

const HTML: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const FORM: &str = "application/x-www-form-urlencoded";
const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");

/// As a browser sends a form, or what a page has it send.
fn post(who: &str, path: &str, content: &str, body: &str, more: &[(&str, &str)]) -> ApiRequest {
    let headers = [("host", "api.example"), ("accept", HTML), ("content-type", content)];
    let headers = headers.iter().chain(more).filter(|(_, value)| !value.is_empty());
    ApiRequest {
        method: "POST".into(),
        path: path.into(),
        headers: headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: Bytes::from(body.to_owned()),
        principal: Some(Principal::from_stored(who)),
        ..ApiRequest::default()
    }
}

fn form(digest: &str) -> String {
    format!("estate=network&plan_digest={digest}")
}

/// A run that waits, with its plan told.
async fn waiting() -> (Scene, String) {
    let scene = scene().await;
    let run = started(&scene).await;
    scene.wait(&run, "network").await;
    scene.tell(&run, "network", "p1").await;
    (scene, run)
}

async fn page(scene: &Scene, who: &str, run: &str) -> ApiResponse {
    scene.page(who, &format!("/runs/{run}"), Some("network")).await
}

fn header<'r>(response: &'r [(&'static str, String)], name: &str) -> Option<&'r str> {
    response.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
}

#[track_caller]
fn assert_told(response: &ApiResponse, status: u16, why: &str) {
    assert_eq!(response.status, status, "{}", response.body);
    assert_eq!(response.content_type, "text/html; charset=utf-8");
    assert!(response.body.contains(why), "{why}: {}", response.body);
    assert!(!response.body.contains("<form"), "{}", response.body);
}

#[tokio::test]
async fn who_may_decide_gets_a_form_that_does_and_names_what_it_does() {
    let (scene, run) = waiting().await;
    let shown = page(&scene, GRACE, &run).await;
    assert!(shown.body.contains(">Approve: 4 to add, 1 to destroy</button>"), "{}", shown.body);
    for part in [
        format!("method=\"post\" aria-label=\"Decide about this plan\" action=\"{run}/approve\""),
        format!("formaction=\"{run}/reject\">Decline</button>"),
        "name=\"estate\" value=\"network\"".to_owned(),
        format!("name=\"plan_digest\" value=\"{DIGEST}\""),
        format!("-digest={DIGEST} {run}"),
    ] {
        assert!(shown.body.contains(&part), "{part}: {}", shown.body);
    }
    assert_eq!(shown, page(&scene, GRACE, &run).await, "the same run gives the same bytes");
    let headers = shown.headers();
    let policy = header(&headers, "content-security-policy").unwrap();
    assert!(policy.ends_with("form-action 'self'; frame-ancestors 'none'"), "{policy}");
    assert_eq!(header(&headers, "x-frame-options"), Some("DENY"));
    assert_eq!(header(&headers, "referrer-policy"), Some("same-origin"));

    let path = format!("/runs/{run}/approve");
    let approved = scene.answer(&post(GRACE, &path, FORM, &form(DIGEST), &[OWN])).await;
    assert_eq!(approved.status, 303, "{approved:?}");
    let to = format!("../{run}?estate=network");
    assert_eq!(header(&approved.headers(), "location"), Some(&*to));
    assert_eq!(scene.asked(), [format!("succeed token-of-{run}")]);
    let shown = page(&scene, GRACE, &run).await.body;
    assert!(shown.contains("<dt>Approved by</dt>") && shown.contains(GRACE), "{shown}");
    assert!(!shown.contains("method=\"post\""), "{shown}");
}

#[tokio::test]
async fn declining_ends_the_wait_and_the_page_says_so_at_once() {
    let (scene, run) = waiting().await;
    let path = format!("/runs/{run}/reject");
    // An author may say no.
    let declined = scene.answer(&post(ADA, &path, FORM, &form(DIGEST), &[OWN])).await;
    assert_eq!(declined.status, 303, "{declined:?}");
    assert_eq!(scene.asked(), [format!("fail token-of-{run} Declined")]);
    // The run has not heard of it yet.
    assert_eq!(scene.state(&run, "network").await.status, Status::WaitingForApproval);
    let shown = page(&scene, GRACE, &run).await.body;
    assert!(shown.contains("<dt>Declined by</dt>") && shown.contains("The plan is declined"));
    assert!(!shown.contains("method=\"post\"") && !shown.contains(" approve "), "{shown}");
}

#[tokio::test]
async fn no_form_where_nobody_could_decide_or_nothing_is_shown() {
    let (scene, run) = waiting().await;
    let has_form = |response: ApiResponse| {
        assert_eq!(response.status, 200, "{response:?}");
        let may_send = response.headers().iter().any(|(_, v)| v.contains("form-action 'self'"));
        assert_eq!(may_send, response.body.contains("method=\"post\""));
        may_send
    };
    assert!(has_form(page(&scene, GRACE, &run).await));
    assert!(!has_form(page(&scene, READER, &run).await), "who may not decide");
    // A program keeps a page in a file.
    let mut kept = ApiRequest {
        method: "GET".into(),
        path: format!("/runs/{run}"),
        query: [("estate".to_owned(), "network".to_owned())].into(),
        principal: Some(Principal::from_stored(GRACE)),
        ..ApiRequest::default()
    };
    kept.headers.insert("accept".into(), "text/html, application/json;q=0.5".into());
    assert!(!has_form(scene.answer(&kept).await));
    kept.query.clear();
    assert_eq!(scene.answer(&kept).await.content_type, "application/json", "and reads refusals");
    // What is told is of another plan, or is kept no more.
    scene.tell(&run, "network", "p0").await;
    assert!(!has_form(page(&scene, GRACE, &run).await));
    let states = scene.environment.run_states().await.unwrap();
    let forget = |state: &mut RunState| state.parts.clear();
    states.change(&reference("network"), &RunId::from_stored(&*run), forget).await.unwrap();
    assert!(!has_form(page(&scene, GRACE, &run).await));
}

#[tokio::test]
async fn what_another_sites_page_has_a_browser_send_is_refused() {
    let (scene, run) = waiting().await;
    let json = format!("{{\"estate\":\"network\",\"plan_digest\":\"{DIGEST}\"}}");
    let (approve, form) = (format!("/runs/{run}/approve"), form(DIGEST));
    let sites: [&[(&str, &str)]; 9] = [
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "cross-site"), ("origin", "https://api.example")],
        &[("sec-fetch-site", "same-origin,cross-site")],
        &[("origin", "https://attacker.invalid")],
        &[("origin", "https://api.example.attacker.invalid")],
        &[("origin", "http://api.example")],
        &[("origin", "null")],
    ];
    for site in sites {
        for (content, body) in [(FORM, &form), ("text/plain", &json), ("", &json)] {
            let refused = scene.answer(&post(GRACE, &approve, content, body, site)).await;
            assert_told(&refused, 403, "does not come from a page of this deployment");
            let page = content == FORM;
            let back = format!("href=\"../{run}?estate=network\"");
            assert_eq!(refused.body.contains(&back), page, "{}", refused.body);
        }
        // A password is added whatever is sent.
        for content in [FORM, "application/json", "text/plain"] {
            let mut request = post(GRACE, &approve, content, &json, site);
            request.authentication = Authentication::Ambient;
            assert_eq!(scene.answer(&request).await.status, 403, "{content} {site:?}");
        }
    }
    // Neither says anything.
    let silent = scene.answer(&post(GRACE, &approve, FORM, &form, &[])).await;
    assert_told(&silent, 403, "does not come from a page");
    for (path, body) in [
        (approve.clone(), json.clone()),
        (format!("/runs/{run}/reject"), json.clone()),
        (format!("/runs/{run}/cancel"), "{\"estate\":\"network\"}".to_owned()),
        ("/runs".to_owned(), "{}".to_owned()),
        ("/plans/p1/apply".to_owned(), "{}".to_owned()),
    ] {
        let mut request = post(GRACE, &path, "application/json", &body, &[]);
        request.authentication = Authentication::Ambient;
        assert_eq!(scene.answer(&request).await.status, 403, "{path}");
    }
    assert!(scene.asked().is_empty());
    assert_eq!(scene.state(&run, "network").await.status, Status::WaitingForApproval);
    let states = scene.environment.run_states().await.unwrap();
    let run = RunId::from_stored(run);
    assert!(approval::find(&states, &reference("network"), &run).await.unwrap().is_none());
}

#[tokio::test]
async fn what_comes_from_here_or_from_a_program_is_taken() {
    let json = format!("{{\"estate\":\"network\",\"plan_digest\":\"{DIGEST}\"}}");
    let clear = Some("http://api.example".to_owned());
    let basic = Authentication::Ambient;
    let bearer = Authentication::Explicit;
    type Case<'a> = (&'a str, Authentication, &'a [(&'a str, &'a str)], Option<String>, u16);
    let cases: [Case<'_>; 9] = [
        (FORM, bearer, &[OWN], None, 303),
        (FORM, basic, &[OWN], None, 303),
        (FORM, basic, &[("origin", "https://API.example")], None, 303),
        (FORM, basic, &[("origin", "http://api.example")], clear, 303),
        // Behind what puts another host into the request.
        (FORM, basic, &[OWN, ("origin", "https://plumbline.example")], None, 303),
        ("application/json", basic, &[OWN], None, 202),
        ("application/json; charset=utf-8", bearer, &[], None, 202),
        ("", bearer, &[], None, 202),
        // No page elsewhere sends that: browsers would ask first.
        ("application/json", bearer, &[("sec-fetch-site", "cross-site")], None, 202),
    ];
    for (content, authentication, more, api, status) in cases {
        let (scene, run) = waiting().await;
        let body = if content == FORM { form(DIGEST) } else { json.clone() };
        let request = post(GRACE, &format!("/runs/{run}/approve"), content, &body, more);
        let request = ApiRequest { authentication, address: api, ..request };
        let response = scene.answer(&request).await;
        assert_eq!(response.status, status, "{content} {more:?}: {response:?}");
        assert_eq!(scene.asked(), [format!("succeed token-of-{run}")]);
    }
}

#[tokio::test]
async fn each_refusal_is_a_page_to_read() {
    let (scene, run) = waiting().await;
    let path = format!("/runs/{run}/approve");
    let answer = |who: &str, body: String| {
        let request = post(who, &path, FORM, &body, &[OWN]);
        let scene = &scene;
        async move { scene.answer(&request).await }
    };
    assert_told(&answer(ADA, form(DIGEST)).await, 403, "is an author of what this plan changes");
    assert_told(&answer(READER, form(DIGEST)).await, 403, "you may not approve the estate network");
    let other = answer(GRACE, form("0123")).await;
    assert_told(&other, 409, "what would be applied is not what was looked at");
    assert!(other.body.contains(&format!("<a href=\"../{run}?estate=network\">")));
    for (body, why) in [
        ("estate=network", "no field &quot;plan_digest&quot;"),
        ("plan_digest=0", "no field &quot;estate&quot;"),
        ("estate=network&estate=network&plan_digest=0", "two fields &quot;estate&quot;"),
        ("estate=network&plan_digest=0&force=1", "a field &quot;force&quot;"),
        ("", "no field"),
    ] {
        assert_told(&answer(GRACE, body.to_owned()).await, 400, why);
    }
    // Forms decide about plans, and do nothing else.
    let cancel = post(ADA, &format!("/runs/{run}/cancel"), FORM, "estate=network", &[OWN]);
    assert_told(&scene.answer(&cancel).await, 400, "is not understood");
    assert!(scene.asked().is_empty());
    assert_eq!(answer(GRACE, form(DIGEST)).await.status, 303);
    scene.asked();
    let late = answer(GRACE, form(DIGEST)).await;
    assert_told(&late, 409, "does not wait for an approval: it is approved");
    assert_told(&scene.page(GRACE, "/runs/none", Some("network")).await, 404, "has no run none");
}

#[tokio::test]
async fn the_first_decision_counts() {
    let (scene, run) = waiting().await;
    let states = scene.environment.run_states().await.unwrap();
    let state = scene.state(&run, "network").await;
    let (plan, ada) = (state.plan.clone().unwrap(), Principal::from_stored(ADA));
    approval::record(&states, &state, &plan, Decision::Declined, &ada).await.unwrap();
    let path = format!("/runs/{run}/approve");
    let late = scene.answer(&post(GRACE, &path, FORM, &form(DIGEST), &[OWN])).await;
    assert_told(&late, 409, "the first decision counts");
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn pages_name_the_address_that_they_came_from() {
    let (scene, run) = waiting().await;
    let request = ApiRequest {
        method: "GET".into(),
        path: format!("/runs/{run}"),
        query: [("estate".to_owned(), "network".to_owned())].into(),
        headers: [("accept".to_owned(), HTML.to_owned())].into(),
        principal: Some(Principal::from_stored(GRACE)),
        address: Some("http://127.0.0.1:7586".to_owned()),
        ..ApiRequest::default()
    };
    let page = scene.answer(&request).await.body;
    assert!(page.contains("approve -remote=http://127.0.0.1:7586 -digest="), "{page}");
}
