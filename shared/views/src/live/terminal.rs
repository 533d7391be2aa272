//! The one place that writes to a terminal with lines that change.

use crate::activity::Clock;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use unicode_width::UnicodeWidthStr;

/// Milliseconds between two frames.
const PERIOD: i64 = 100;

/// A terminal's columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// Makes the lines of a frame, for a time in milliseconds and a size. None where nothing is to be shown.
pub type Painter = Arc<dyn Fn(i64, Size) -> Vec<String> + Send + Sync>;

/// A writer to a terminal that keeps a frame of changing lines below what is written. Text becomes
/// visible when it is flushed. All clones write to the same terminal.
#[derive(Clone)]
pub struct LiveTerminal(Arc<Mutex<Inner>>);

struct Inner {
    out: Box<dyn Write + Send>,
    clock: Clock,
    size: Box<dyn Fn() -> Size + Send>,
    painter: Painter,
    /// What was written since the last flush.
    unflushed: Vec<u8>,
    /// What was flushed, and waits for the next frame.
    ready: Vec<u8>,
    /// Whether the text above the frame ends with a whole line.
    at_line_start: bool,
    /// Whether somebody else has the terminal.
    paused: bool,
    /// The frame that is on the screen.
    frame: Vec<String>,
    /// When something was last written.
    drawn: i64,
}

impl LiveTerminal {
    /// Writes to `out`, which is as large as `size` says at the time.
    pub fn new(
        out: Box<dyn Write + Send>,
        clock: Clock,
        size: Box<dyn Fn() -> Size + Send>,
        painter: Painter,
    ) -> LiveTerminal {
        LiveTerminal(Arc::new(Mutex::new(Inner {
            out,
            clock,
            size,
            painter,
            unflushed: Vec::new(),
            ready: Vec::new(),
            at_line_start: true,
            paused: false,
            frame: Vec::new(),
            drawn: i64::MIN,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Draws what has changed. To be called about ten times a second.
    pub fn draw(&self) {
        // Work goes on where nobody can follow it.
        let _ = self.lock().draw(true);
    }

    /// Writes what waits, takes the frame off the screen, and lets `write` have the terminal to itself.
    pub fn without_frame<T>(&self, write: impl FnOnce() -> T) -> T {
        let mut inner = self.lock();
        let _ = inner.clear();
        let result = write();
        // Whatever was written ended its lines; what did not is asked of a person, who does.
        inner.at_line_start = true;
        result
    }

    /// Takes the frame off the screen until [`LiveTerminal::resume`]. Text is written all the same.
    pub fn pause(&self) {
        let mut inner = self.lock();
        inner.paused = true;
        let _ = inner.clear();
    }

    /// Frames are drawn again. The terminal is at the beginning of a line.
    pub fn resume(&self) {
        let mut inner = self.lock();
        inner.paused = false;
        inner.at_line_start = true;
    }

    /// Takes the frame away where the terminal may be in use by this very thread: after a panic.
    pub fn try_clear(&self) {
        if let Ok(mut inner) = self.0.try_lock() {
            let _ = inner.clear();
        }
    }

    /// Something else has written to the terminal: the frame that was on it is out of reach.
    pub fn forget_frame(&self) {
        self.lock().frame.clear();
    }
}

impl Write for LiveTerminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().unflushed.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut inner = self.lock();
        let mut text = std::mem::take(&mut inner.unflushed);
        inner.ready.append(&mut text);
        inner.draw(false)
    }
}

impl Inner {
    fn draw(&mut self, is_due: bool) -> io::Result<()> {
        let now = (self.clock)().as_millisecond();
        let size = (self.size)();
        let mut frame = (self.painter)(now, size);
        // Below lines that change, text is written as often as they are.
        let soon = now.saturating_sub(self.drawn) < PERIOD;
        if soon && !is_due && !self.frame.is_empty() && !frame.is_empty() {
            return Ok(());
        }
        if self.paused {
            frame.clear();
        }
        if self.ready.is_empty() && frame == self.frame {
            return Ok(());
        }
        let mut out = self.erasing(size);
        if let Some(last) = self.ready.last() {
            self.at_line_start = *last == b'\n';
        }
        out.append(&mut self.ready);
        // No frame is drawn into a line that is still being written.
        if !self.at_line_start {
            frame.clear();
        }
        out.extend_from_slice(frame.join("\r\n").as_bytes());
        self.frame = frame;
        self.drawn = now;
        self.write(&out)
    }

    fn clear(&mut self) -> io::Result<()> {
        let mut out = self.erasing((self.size)());
        let mut unflushed = std::mem::take(&mut self.unflushed);
        out.append(&mut self.ready);
        out.append(&mut unflushed);
        self.frame.clear();
        self.write(&out)
    }

    /// All at once, so that no half of a frame is ever seen.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes {
            [] => Ok(()),
            bytes => self.out.write_all(bytes).and_then(|()| self.out.flush()),
        }
    }

    /// What takes the frame off the screen. Its cursor stands at the end of the last line. Lines that
    /// have become wider than the terminal are wrapped by it.
    fn erasing(&self, size: Size) -> Vec<u8> {
        if self.frame.is_empty() {
            return Vec::new();
        }
        let columns = size.columns.max(1);
        let rows = self.frame.iter().map(|line| line.width().div_ceil(columns).max(1));
        let above = rows.sum::<usize>() - 1;
        match above {
            0 => b"\r\x1b[J".to_vec(),
            above => format!("\r\x1b[{above}A\x1b[J").into_bytes(),
        }
    }
}
