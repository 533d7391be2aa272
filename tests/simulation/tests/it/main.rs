//! The engine under simulation.

mod seeds;
