//! Pages and comments: what they show, and that nothing in them is taken for markup.

mod markup;
mod scenes;

use proptest::prelude::*;
use std::path::PathBuf;
use views::comment::{CommentOptions, comment};
use views::drift_report::{DriftReport, EstateDrift};
use views::page::{
    Decision, PageOptions, RunPage, Sends, write_decision_page, write_drift_page,
    write_refusal_page, write_run_page,
};
use views::run_report::{
    ChangeStanding, Danger, DiffRow, RowValue, RunReport, StepReport, summary_line, write_summary,
};
use views::{Colour, PlanView};

fn page(run: &RunReport) -> String {
    let mut out = Vec::new();
    write_run_page(run, PageOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The page that a browser has from the API while the run waits.
fn decision_page(run: &RunReport) -> String {
    let page = RunPage { estate: &run.estate, run: run.run.as_deref().unwrap() };
    let plan = run.plan.as_ref().unwrap();
    let decision = Decision { page, plan, plan_digest: scenes::DIGEST };
    let mut out = Vec::new();
    write_decision_page(run, &decision, PageOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn refusal_page(why: &str, back: Option<RunPage<'_>>) -> String {
    let mut out = Vec::new();
    write_refusal_page(why, back, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn drift_page(report: &DriftReport) -> String {
    let mut out = Vec::new();
    write_drift_page(report, PageOptions::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn options() -> CommentOptions<'static> {
    CommentOptions {
        marker: "<!-- plumbline estate=shop-production -->",
        mode: "deploy",
        commit: Some("1a2b3c4d5e6f"),
        link: Some("https://api.example/runs/9f2c61d0a4b7?estate=shop-production"),
        room: 60_000,
    }
}

/// Texts that somebody may have chosen to do harm, one a line.
fn hostile() -> Vec<&'static str> {
    include_str!("hostile.txt").lines().collect()
}

/// What a page shows, without its style and script, one element a line.
fn content(page: &str) -> String {
    let main = &page[page.find("<header>").unwrap()..page.find("<dialog").unwrap_or(page.len())];
    let main = main.split("<script>").next().unwrap_or_default();
    main.replace("<section", "\n<section")
        .replace("<details", "\n<details")
        .replace("<div class=\"r", "\n  <div class=\"r")
}

#[test]
fn a_page_shows_a_run() {
    insta::assert_snapshot!(content(&page(&scenes::waiting())));
}

#[test]
fn a_page_of_the_api_has_a_form_that_decides_about_the_plan_that_it_shows() {
    let page = decision_page(&scenes::waiting());
    let content = content(&page);
    let next = content.lines().find(|line| line.starts_with("<section class=\"next\"")).unwrap();
    insta::assert_snapshot!(next.replace("><", ">\n<"));
    assert!(page.contains("form-action &#39;self&#39;"), "its policy lets it send that");
    assert!(page.contains("<meta name=\"referrer\" content=\"same-origin\">"));
    // Nothing that is lost makes the button plain.
    let mut harmless = scenes::waiting();
    let plan = harmless.plan.as_mut().unwrap();
    plan.changes.retain(|change| change.danger == Danger::None);
    (plan.counts.replace, plan.counts.destroy) = (0, 0);
    let button = "class=\"approve\">Approve: 4 to add, 4 to change</button>";
    assert!(decision_page(&harmless).contains(button));
}

#[test]
fn other_pages_send_nothing() {
    let refused = refusal_page("x", Some(RunPage { estate: "network", run: "r1" }));
    let kept = [scenes::waiting(), scenes::rejected(), scenes::applied()].map(|run| page(&run));
    for page in kept.into_iter().chain([drift_page(&scenes::drift()), refused]) {
        assert!(!page.contains("method=\"post\"") && !page.contains("formaction"));
        assert!(page.contains("form-action &#39;none&#39;"));
        assert!(page.contains("<meta name=\"referrer\" content=\"no-referrer\">"));
    }
    assert!(page(&scenes::waiting()).contains("approve -remote="), "the command stays");
    assert!(Sends::Nothing.content_policy().ends_with("form-action 'none'"));
    assert!(Sends::Form.content_policy().ends_with("form-action 'self'"));
}

#[test]
fn no_script_decides() {
    let page = decision_page(&scenes::waiting());
    let script = &page[page.rfind("<script>").unwrap()..];
    for sends in ["submit(", "requestSubmit", "fetch(", "XMLHttpRequest", "sendBeacon", "decide"] {
        assert!(!script.contains(sends), "{sends}");
    }
}

#[test]
fn a_browser_is_told_why_something_was_not_done() {
    let back = RunPage { estate: "team/network", run: "r1" };
    let page = refusal_page("nobody is known to ask; sign the request", Some(back));
    insta::assert_snapshot!(content(&page));
    for text in hostile() {
        let page = refusal_page(text, Some(RunPage { estate: text, run: text }));
        assert_eq!(markup::read(&page).0, markup::read(&refusal_page("x", Some(back))).0, "{text}");
    }
    assert!(!content(&refusal_page("x", None)).contains("href"));
}

#[test]
fn a_page_shows_why_a_plan_is_refused() {
    let page = page(&scenes::rejected());
    let text = markup::read(&page).1;
    for said in
        ["not what the plan rests on", "t3.xlarge", "accepted by arn:aws:iam", "-accept-drift="]
    {
        assert!(text.contains(said), "{said}");
    }
    // What went wrong stands before what was planned.
    assert!(page.find("id=\"h-stages\"") < page.find("id=\"h-changes\""));
}

#[test]
fn a_page_shows_outputs_and_masks_what_is_sensitive() {
    for run in [scenes::waiting(), scenes::rejected(), scenes::applied()] {
        let text = [page(&run), comment(&run, options())].concat();
        assert!(!text.contains("hunter"), "a sensitive value is shown");
        assert!(text.contains("(sensitive value)"));
    }
    assert!(page(&scenes::applied()).contains("https://shop-b.example.com"));
}

#[test]
fn a_page_shows_drift_since_when_and_how_often() {
    let report = scenes::drift();
    assert_eq!(report.counts(), (1, 1));
    let page = drift_page(&report);
    insta::assert_snapshot!(content(&page));
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    assert_eq!(serde_json::from_slice::<DriftReport>(&json).unwrap(), report);
    let mut text = Vec::new();
    report.write_text(Colour::Plain, &mut text).unwrap();
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
}

#[test]
fn drift_is_told_where_what_it_was_is_kept_no_more() {
    let all = scenes::drift();
    let shop = all.estates.iter().find(|estate| estate.estate == "shop-production").unwrap();
    let looks = shop.looks.iter().map(|look| (look.clone(), Vec::new())).collect();
    let report = DriftReport::new(vec![EstateDrift::new("shop-production", looks)]);
    assert_eq!(report.counts(), (1, 0));
    let mut text = Vec::new();
    report.write_text(Colour::Plain, &mut text).unwrap();
    let page = drift_page(&report);
    assert!(!page.contains("h-clean"), "it is not as recorded");
    for told in [page, String::from_utf8(text).unwrap()] {
        assert!(told.contains("is kept no more"), "{told}");
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    assert_eq!(page(&scenes::waiting()), page(&scenes::waiting()));
    assert_eq!(decision_page(&scenes::waiting()), decision_page(&scenes::waiting()));
    assert_eq!(drift_page(&scenes::drift()), drift_page(&scenes::drift()));
    assert_eq!(comment(&scenes::waiting(), options()), comment(&scenes::waiting(), options()));
}

#[test]
fn what_is_not_known_when_this_is_compiled_is_text() {
    let harmless = markup::read(&page(&scenes::with_texts(scenes::rejected(), "x"))).0;
    for text in hostile() {
        // The scenes have all that can be said of a run.
        let page = page(&scenes::with_texts(scenes::rejected(), text));
        let (tags, shown) = markup::read(&page);
        assert_eq!(tags, harmless, "{text}");
        assert!(!shown.contains("<script"), "{text}");
    }
}

#[test]
fn no_text_changes_what_a_form_sends_or_where() {
    let harmless = markup::read(&decision_page(&scenes::with_texts(scenes::waiting(), "x"))).0;
    for text in hostile() {
        let tags = markup::read(&decision_page(&scenes::with_texts(scenes::waiting(), text))).0;
        assert_eq!(tags, harmless, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_text_becomes_markup(text in "[xX<>\"'&=/` ;!\\-\\\\\u{0}-\u{1f}\u{7f}\u{202e}\u{2028}a-c]{1,24}") {
        // A text in parentheses, and an empty line, are told from others by intent.
        let harmless = markup::read(&page(&scenes::with_texts(scenes::waiting(), "x"))).0;
        let run = scenes::with_texts(scenes::waiting(), &text);
        prop_assert_eq!(markup::read(&page(&run)).0, harmless);
        let harmless = markup::read(&decision_page(&scenes::with_texts(scenes::waiting(), "x"))).0;
        prop_assert_eq!(markup::read(&decision_page(&run)).0, harmless);
    }
}

#[test]
fn what_looks_like_something_else_is_named() {
    let run = RunReport { estate: "a\u{202e}b\u{0}".into(), ..RunReport::default() };
    assert!(page(&run).contains("<h1>a⟨U+202E⟩b⟨U+0000⟩</h1>"));
    assert!(comment(&run, options()).contains("`a⟨U+202E⟩b⟨U+0000⟩`"));
    let mut plan = scenes::waiting().plan.unwrap();
    for change in &mut plan.changes {
        change.address = "a_b.\u{202e}".into();
    }
    let mut text = Vec::new();
    write_summary(&plan, Colour::Plain, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("a_b.⟨U+202E⟩") && !text.contains('\u{202e}'), "{text}");
}

#[test]
fn a_comment_says_what_is_lost_first() {
    insta::assert_snapshot!(comment(&scenes::waiting(), options()));
    insta::assert_snapshot!(comment(&scenes::rejected(), options()));
}

#[test]
fn a_plan_that_leaves_something_out_says_so() {
    let mut run = scenes::waiting();
    let plan = run.plan.as_mut().unwrap();
    (plan.complete, plan.targeted) = (false, true);
    let mut text = Vec::new();
    write_summary(plan, Colour::Plain, &mut text).unwrap();
    for told in [String::from_utf8(text).unwrap(), page(&run), comment(&run, options())] {
        assert!(told.contains("the plan is not complete"), "{told}");
        assert!(told.contains("only some resources were planned"), "{told}");
    }
}

#[test]
fn a_comment_keeps_what_others_changed_apart_from_what_is_planned() {
    let text = comment(&scenes::waiting(), options());
    let (planned, outside) = text.split_once("Changed outside of Plumbline: 1 object").unwrap();
    assert!(planned.contains("All 10 changes") && !planned.contains("aws_subnet.private"));
    assert!(outside.contains("aws_subnet.private"));
}

#[test]
fn a_comment_fits_and_says_that_it_is_cut() {
    let run = scenes::many(3_000);
    for room in [8_000, 60_000] {
        let text = comment(&run, CommentOptions { room, ..options() });
        assert!(text.len() <= room, "{} of {room}", text.len());
        assert!(text.contains("more changes are cut here") && text.ends_with("</details>\n"));
    }
}

#[test]
fn one_large_change_leaves_room_for_the_others() {
    let mut run = scenes::waiting();
    let plan = run.plan.as_mut().unwrap();
    plan.changes[0].imported = Some("subnet-0a1".into());
    let row = DiffRow { value: RowValue::Text("x".repeat(100_000)), ..DiffRow::note("") };
    plan.changes[0].rows = vec![row.clone()];
    let text = comment(&run, options());
    assert!(text.contains("xxx…\n") && !text.contains("cut here"), "a value is shortened");
    assert!(text.contains("# imported from subnet-0a1\n"), "{text}");
    run.plan.as_mut().unwrap().changes[0].rows = vec![row; 60];
    let text = comment(&run, options());
    assert!(text.contains("1 more change is cut here") && text.contains("# create module.service"));
    assert!(text.len() <= options().room);
}

#[test]
fn nothing_breaks_out_of_a_comment() {
    for text in hostile() {
        let mut run = scenes::with_texts(scenes::rejected(), text);
        // It is one of ours.
        run.status = "rejected".into();
        let outside = outside_code(&comment(&run, options()));
        for theirs in ["<script", "onerror", "attacker", "@everyone", "javascript:", "owned"] {
            assert!(!outside.contains(theirs), "{theirs} in {outside}");
        }
    }
}

/// A comment without its blocks of code and its code within lines.
fn outside_code(comment: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<String> = None;
    for line in comment.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => out.push_str(&without_spans(line)),
        }
        out.push('\n');
    }
    assert_eq!(fence, None, "a block of code does not end");
    out
}

fn without_spans(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        out.push_str(&rest[..at]);
        let length = rest[at..].chars().take_while(|c| *c == '`').count();
        let inside = &rest[at + length..];
        // It ends at as many backticks, no more and no less.
        let mut from = 0;
        let end = loop {
            let Some(next) = inside[from..].find('`').map(|next| next + from) else { break None };
            let count = inside[next..].chars().take_while(|c| *c == '`').count();
            if count == length {
                break Some(next + count);
            }
            from = next + count;
        };
        match end {
            Some(end) => rest = &inside[end..],
            None => {
                out.push_str(&rest[at..at + length]);
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    out
}

#[test]
fn a_terminal_says_what_is_lost_first() {
    let run = scenes::waiting();
    let plan = run.plan.as_ref().unwrap();
    let mut text = Vec::new();
    write_summary(plan, Colour::Plain, &mut text).unwrap();
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
    assert_eq!(summary_line(plan), "4 to add, 4 to change, 1 to replace, 1 to destroy");
}

#[test]
fn what_is_left_over_of_a_replacement_is_told_from_the_object_itself() {
    let mut run = scenes::waiting();
    let plan = run.plan.as_mut().unwrap();
    let dangerous = plan.changes.iter_mut().find(|change| change.danger > Danger::None).unwrap();
    dangerous.deposed = Some("0a1b2c3d".into());
    let name = format!("{} (deposed 0a1b2c3d)", dangerous.address);
    let mut text = Vec::new();
    write_summary(plan, Colour::Plain, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    for told in [text, page(&run), comment(&run, options())] {
        assert!(told.contains(&name), "{told}");
    }
}

#[test]
fn an_apply_that_ended_on_its_way_shows_how_far_it_came() {
    let mut run = scenes::waiting();
    let standings = [
        ChangeStanding::Recorded,
        ChangeStanding::Failed,
        ChangeStanding::InFlight,
        ChangeStanding::HalfDone,
        ChangeStanding::NotBegun,
    ];
    let changes = run.plan.iter().flat_map(|plan| &plan.changes).zip(standings);
    run.standing = changes.map(|(change, is)| (change.address.clone(), is)).collect();
    let line =
        "1 of 5 changes are made and recorded, 1 failed, 1 in flight, 1 half done, 1 not begun.";
    for told in [page(&run), comment(&run, options())] {
        assert!(told.contains(line), "{told}");
    }
    let step = StepReport { standing: run.standing.clone(), ..StepReport::new() };
    let step = serde_json::to_vec(&step).unwrap();
    let mut again = RunReport { plan: run.plan.clone(), ..RunReport::default() };
    again.tell(serde_json::from_slice(&step).unwrap());
    assert_eq!(again.standings().len(), 5);
    // Of what is done as a whole, nobody has to know more.
    run.applied = scenes::applied().applied;
    assert!(run.standings().is_empty() && page(&run).contains("Apply complete!"));
}

#[test]
fn where_there_is_no_room_the_gravest_changes_keep_their_attributes() {
    let plan = views::run_report::PlanReport::new(&PlanView::new(&scenes::plan())).within(1_500);
    let kept = plan.changes.iter().filter(|change| change.rows.len() > 1);
    assert!(kept.clone().count() > 0);
    for change in plan.changes.iter().filter(|change| change.danger == Danger::LosesData) {
        assert!(change.rows.len() > 1, "{}", change.address);
    }
    assert!(plan.changes.iter().any(|change| change.rows.len() == 1));
    let small = PageOptions { room: 1 };
    let mut page = Vec::new();
    write_run_page(&scenes::waiting(), small, &mut page).unwrap();
    assert!(String::from_utf8(page).unwrap().contains("are left out here"));
}

#[test]
fn steps_are_told_one_after_the_other_and_survive_their_json() {
    let scene = scenes::rejected();
    let first = StepReport {
        plan: scene.plan.clone(),
        verdicts: scenes::waiting().verdicts,
        messages: scene.messages.clone(),
        ..StepReport::new()
    };
    let again = StepReport {
        verdicts: scene.verdicts.clone(),
        messages: scene.messages.clone(),
        ..StepReport::new()
    };
    let mut run = RunReport::default();
    for step in [first, again.clone(), again] {
        let json = serde_json::to_vec(&step).unwrap();
        run.tell(serde_json::from_slice(&json).unwrap());
    }
    assert_eq!(run.plan, scene.plan);
    assert_eq!(run.messages, scene.messages);
    assert_eq!(
        run.verdicts.len(),
        scene.verdicts.len() + 1,
        "what was checked before planning stays"
    );
    let waived = run.verdicts.iter().filter(|verdict| verdict.waived_by.is_some());
    assert_eq!(waived.count(), 1);
}

/// Writes pages for a browser into the folder that PAGES_FOR_A_BROWSER names: tests/end-to-end/pages looks at them.
#[test]
fn written_for_a_browser() {
    let Some(folder) = std::env::var_os("PAGES_FOR_A_BROWSER").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, page: String| std::fs::write(folder.join(name), page).unwrap();
    write("waiting.html", page(&scenes::waiting()));
    write("deciding.html", decision_page(&scenes::waiting()));
    let back = RunPage { estate: "shop-production", run: "9f2c61d0a4b7" };
    write("refused.html", refusal_page("ada is an author of what this plan changes", Some(back)));
    write("rejected.html", page(&scenes::rejected()));
    write("applied.html", page(&scenes::applied()));
    write("drift.html", drift_page(&scenes::drift()));
    write("many.html", page(&scenes::many(5_000)));
    for (i, text) in hostile().into_iter().enumerate() {
        write(&format!("hostile-{i:02}.html"), page(&scenes::with_texts(scenes::rejected(), text)));
        let deciding = decision_page(&scenes::with_texts(scenes::waiting(), text));
        write(&format!("hostile-deciding-{i:02}.html"), deciding);
    }
    write("hostile.json", serde_json::to_string(&hostile()).unwrap());
}
