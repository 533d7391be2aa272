//! `plumb` as its users meet it: the program, its output and its exit codes.

mod approval;
mod bad_files;
mod exit_codes;
mod initialization;
mod lifecycle;
mod refusals;
mod scene;
