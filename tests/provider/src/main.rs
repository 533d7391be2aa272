//! The test provider's program. As `terraform-provider-test __watchdog …` it is the watchdog of
//! tests that start plugins.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    let result = match args.peek().is_some_and(|a| a == "__watchdog") {
        true => providers::plugin::watchdog::run(args.skip(1), std::io::stdin()),
        false => {
            let args: Vec<String> = args.map(|a| a.to_string_lossy().into_owned()).collect();
            test_provider::serve(&args)
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            #[expect(clippy::print_stderr, reason = "a program's last words")]
            {
                eprintln!("{e}");
            }
            ExitCode::FAILURE
        }
    }
}
