//! What functions share, through its public interface.

mod key_file;
