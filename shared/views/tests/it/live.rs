//! What is followed at a terminal: the lines that are made of the work, and what stands on the screen.

use crate::hooks::{Sink, Time};
use engine::changes::{Action, Changes, ResourceInstanceChange};
use engine::hooks::{Hook, HookObject};
use engine::plan::Plan;
use std::io::Write;
use std::sync::{Arc, Mutex};
use values::Value;
use values::address::{
    ConfigResource, InstanceKey, ModuleInstance, ModulePath, ProviderAddress,
    ProviderConfigAddress, Resource, ResourceInstance,
};
use views::live::{Board, LiveTerminal, Phase, Progressing, Running, Size, Waiting, fitted, frame};

const SIZE: Size = Size { columns: 80, rows: 24 };

fn running(name: &str, since: i64) -> Running {
    Running { name: name.into(), verb: "Creating...".into(), since }
}

fn work() -> Progressing {
    Progressing {
        phase: Phase::Applying,
        since: 0,
        running: vec![
            running("test_thing.a", 1_000),
            running("module.m[\"größe\"].test_thing.b", 63_000),
        ],
        waiting: vec![Waiting {
            name: "test_thing.c".into(),
            on: vec!["test_thing.a".into(), "test_thing.d".into()],
        }],
        to_begin: 4,
        done: 3,
        failed: 1,
        total: Some(9),
    }
}

#[test]
fn a_frame_tells_what_runs_what_waits_and_how_far_it_is() {
    insta::assert_snapshot!(frame(&work(), 65_500, SIZE).join("\n"), @r#"
      test_thing.a: Creating... [1m4s]
      module.m["größe"].test_thing.b: Creating... [2s]
      test_thing.c waits for test_thing.a and 1 more
    Applying [====>         ] 3 of 9 done, 2 running, 4 to begin, 1 failed [1m5s]
    "#);
}

#[test]
fn short_work_and_small_terminals_have_no_frame() {
    let empty = Vec::<String>::new();
    assert_eq!(frame(&work(), 300, SIZE), empty);
    assert_eq!(frame(&work(), 65_000, Size { columns: 22, rows: 24 }), empty);
    assert_eq!(frame(&work(), 65_000, Size { columns: 80, rows: 3 }), empty);
}

#[test]
fn a_frame_is_never_wider_than_the_terminal_nor_higher_than_half_of_it() {
    let mut work = work();
    work.running =
        (0..30).map(|n| running(&format!("test_thing.資源資源資源資源[{n}]"), n)).collect();
    for columns in 10..120 {
        for rows in 1..40 {
            let lines = frame(&work, 70_000, Size { columns, rows });
            assert!(lines.len() <= (rows / 2).max(1), "{rows} rows: {lines:#?}");
            for line in lines {
                assert!(columns_of(&line) < columns, "{columns} columns: {line:?}");
            }
        }
    }
    let lines = frame(&work, 70_000, Size { columns: 80, rows: 8 });
    assert_eq!(lines[2], "  and 28 more");
}

#[test]
fn what_makes_way_is_the_name_and_no_control_reaches_the_terminal() {
    assert_eq!(fitted("  ", "abcdefghij", ": x [1s]", 20), "  abcdefghij: x [1s]");
    assert_eq!(fitted("  ", "abcdefghijk", ": x [1s]", 20), "  abcdefg...: x [1s]");
    assert_eq!(fitted("", "資源資源", "", 7), "資源...");
    assert_eq!(fitted("", "資源資源", "", 6), "資...");
    assert_eq!(fitted("", "a\x1b[2J\u{9b}b\u{202e}c\n", "", 20), "a?[2J?b?c?");
    assert_eq!(fitted("", "a\u{ad}b\u{61c}c\u{2028}d", "", 20), "a?b?c?d");
}

/// Columns as a terminal counts them.
fn columns_of(line: &str) -> usize {
    line.chars().map(|c| if ('\u{2e80}'..'\u{a000}').contains(&c) { 2 } else { 1 }).sum()
}

/// A terminal that knows what we write: text, carriage returns, cursor up, and erasing to the end.
#[derive(Default)]
struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    fn of(text: &str, columns: usize) -> Screen {
        let mut screen = Screen { lines: vec![Vec::new()], ..Screen::default() };
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\r' => screen.column = 0,
                '\n' => screen.down(),
                '\x1b' => {
                    assert_eq!(chars.next(), Some('['));
                    let mut number = String::new();
                    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                        number.push(digit);
                    }
                    match chars.next().unwrap() {
                        'A' => screen.row -= number.parse::<usize>().unwrap(),
                        'J' => {
                            screen.lines.truncate(screen.row + 1);
                            screen.lines[screen.row].truncate(screen.column);
                        }
                        other => panic!("what is CSI {other}?"),
                    }
                }
                c => {
                    assert!(screen.column < columns, "nothing is written beyond the width");
                    let line = &mut screen.lines[screen.row];
                    line.resize(line.len().max(screen.column + 1), ' ');
                    line[screen.column] = c;
                    screen.column += 1;
                }
            }
        }
        screen
    }

    fn down(&mut self) {
        self.row += 1;
        // The terminal turns a line feed into a new line.
        self.column = 0;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn text(&self) -> String {
        let lines = self.lines.iter().map(|line| line.iter().collect::<String>());
        lines.collect::<Vec<_>>().join("\n")
    }
}

struct Stage {
    sink: Sink,
    time: Time,
    size: Arc<Mutex<Size>>,
    frame: Arc<Mutex<Vec<String>>>,
    terminal: LiveTerminal,
}

impl Stage {
    fn new() -> Stage {
        let (sink, time) = (Sink::default(), Time::default());
        let size = Arc::new(Mutex::new(SIZE));
        let frame = Arc::new(Mutex::new(Vec::new()));
        let (asked, painted) = (size.clone(), frame.clone());
        let terminal = LiveTerminal::new(
            Box::new(sink.clone()),
            time.clock(),
            Box::new(move || *asked.lock().unwrap()),
            Arc::new(move |_, _| painted.lock().unwrap().clone()),
        );
        Stage { sink, time, size, frame, terminal }
    }

    fn shows(&self, lines: &[&str]) {
        *self.frame.lock().unwrap() = lines.iter().map(|line| (*line).to_owned()).collect();
    }

    fn say(&self, text: &str) {
        let mut terminal = self.terminal.clone();
        terminal.write_all(text.as_bytes()).unwrap();
        terminal.flush().unwrap();
    }

    fn screen(&self) -> String {
        Screen::of(&self.sink.text(), SIZE.columns).text()
    }
}

#[test]
fn text_stays_above_the_frame_and_the_frame_goes_without_a_trace() {
    let stage = Stage::new();
    stage.say("one\n");
    stage.shows(&["a: 1s", "working"]);
    stage.terminal.draw();
    assert_eq!(stage.screen(), "one\na: 1s\nworking");
    stage.time.pass(1);
    stage.say("two\n");
    stage.shows(&["working"]);
    stage.time.pass(1);
    stage.terminal.draw();
    assert_eq!(stage.screen(), "one\ntwo\nworking");
    stage.shows(&[]);
    stage.say("three\n");
    assert_eq!(stage.screen(), "one\ntwo\nthree\n");
    // As if there had been no frame at all.
    let plain: String = stage.screen();
    assert_eq!(plain, "one\ntwo\nthree\n");
}

#[test]
fn no_frame_is_drawn_into_an_unfinished_line_or_while_somebody_is_asked() {
    let stage = Stage::new();
    stage.shows(&["working"]);
    stage.say("Enter a value: ");
    stage.terminal.draw();
    assert_eq!(stage.screen(), "Enter a value: ");
    stage.say("\n");
    stage.terminal.draw();
    assert_eq!(stage.screen(), "Enter a value: \nworking");
    stage.terminal.pause();
    stage.terminal.draw();
    assert_eq!(stage.screen(), "Enter a value: \n");
    stage.terminal.resume();
    stage.terminal.draw();
    assert_eq!(stage.screen(), "Enter a value: \nworking");
    let seen = stage.terminal.without_frame(|| stage.screen());
    assert_eq!(seen, "Enter a value: \n");
}

#[test]
fn frames_are_drawn_no_more_often_than_ten_times_a_second() {
    let stage = Stage::new();
    stage.shows(&["working"]);
    stage.terminal.draw();
    let before = stage.sink.text().len();
    (0..100).for_each(|n| stage.say(&format!("line {n}\n")));
    assert_eq!(stage.sink.text().len(), before, "what is said waits for the next frame");
    stage.terminal.draw();
    assert!(stage.screen().ends_with("line 99\nworking"));
    assert_eq!(stage.sink.text().matches("working").count(), 2);
    // What has not changed is not drawn again.
    let before = stage.sink.text().len();
    stage.time.pass(1);
    stage.terminal.draw();
    assert_eq!(stage.sink.text().len(), before);
}

#[test]
fn lines_that_a_narrower_terminal_has_wrapped_are_taken_away_whole() {
    let stage = Stage::new();
    stage.shows(&[&"x".repeat(70), "working"]);
    stage.terminal.draw();
    *stage.size.lock().unwrap() = Size { columns: 40, rows: 24 };
    stage.shows(&["working"]);
    stage.time.pass(1);
    stage.terminal.draw();
    // Two rows for the long line, and the cursor stands in the third.
    assert!(stage.sink.text().ends_with("\r\x1b[2A\x1b[Jworking"));
}

fn thing(name: &str) -> ResourceInstance {
    Resource::managed("test_thing", name)
        .absolute(&ModuleInstance::root())
        .instance(InstanceKey::None)
}

fn change(name: &str, action: Action, after: &[&str]) -> ResourceInstanceChange {
    let dependencies = after.iter().map(|name| ConfigResource {
        module: ModulePath::root(),
        resource: Resource::managed("test_thing", *name),
    });
    ResourceInstanceChange {
        address: thing(name),
        previous_address: None,
        deposed: None,
        provider: ProviderConfigAddress {
            module: ModulePath::root(),
            provider: ProviderAddress::implied("test"),
            alias: None,
        },
        action,
        reason: None,
        before: Value::empty_object(),
        after: Value::empty_object(),
        requires_replace: Vec::new(),
        private: Arc::from([]),
        dependencies: dependencies.collect(),
        create_before_destroy: false,
    }
}

#[test]
fn the_board_knows_what_waits_for_what() {
    let mut plan: Plan = crate::plans::empty_plan();
    let resources = vec![
        change("a", Action::Create, &[]),
        change("b", Action::DeleteThenCreate, &["a"]),
        change("c", Action::Update, &["b", "a"]),
        change("gone", Action::Delete, &[]),
        change("went", Action::Delete, &["gone"]),
        change("same", Action::NoOp, &["a"]),
    ];
    plan.changes = Changes { resources, ..Changes::default() };
    let board = Board::new(Time::default().clock());
    assert_eq!(board.progressing(), None);
    board.begin(Some(&plan));
    let null = Value::empty_object();
    let apply = |name: &str, action, error: Option<&str>| {
        let address = thing(name);
        let object = HookObject { address: &address, deposed: None };
        board.pre_apply(&object, action, &null, &null);
        board.post_apply(&object, action, &null, error);
    };
    let waits = || -> Vec<(String, Vec<String>)> {
        board.progressing().unwrap().waiting.into_iter().map(|w| (w.name, w.on)).collect()
    };
    let named = |name: &str, on: &[&str]| {
        (name.to_owned(), on.iter().map(|on| (*on).to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(board.progressing().unwrap().total, Some(6));
    assert_eq!(
        waits(),
        [
            named("test_thing.b", &["test_thing.a"]),
            named("test_thing.c", &["test_thing.b", "test_thing.a"]),
            named("test_thing.gone", &["test_thing.went"]),
        ]
    );
    apply("a", Action::Create, None);
    apply("b", Action::Delete, None);
    apply("went", Action::Delete, Some("no"));
    assert_eq!(waits(), [named("test_thing.c", &["test_thing.b"])]);
    let now = board.progressing().unwrap();
    assert_eq!((now.done, now.failed, now.to_begin), (2, 1, 3));
    board.end();
    assert_eq!(board.progressing(), None);
}
