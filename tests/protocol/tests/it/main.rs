//! The model holds in every case, and each rule that is taken away is missed.

mod cases;
mod mutations;
