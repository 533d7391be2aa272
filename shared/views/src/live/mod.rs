//! Progress as it is followed at a terminal: what runs and for how long, what waits for what, how far
//! all of it is.
//!
//! [`Board`] is a hook that keeps what is under way. [`frame`] makes lines of it: a pure function of
//! the board, the time and the terminal's size. [`LiveTerminal`] alone writes to the terminal: text that
//! stays, as lines go by, and below it the newest frame, at most ten times a second. The cursor is never
//! hidden and no mode is changed, so that nothing has to be restored after a sudden end.

mod board;
mod frame;
mod terminal;

pub use board::{Board, Phase, Progressing, Running, Waiting};
pub use frame::{fitted, frame};
pub use terminal::{LiveTerminal, Painter, Size};
