//! What holds of any input holds of those that were kept, and of deep and long ones.

mod deep;
mod kept;
