//! Maps and sets whose keys are addresses of the configuration: their hash need not withstand who chooses the keys, and
//! is taken for every step of a walk.

use foldhash::fast::RandomState;

pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

pub(crate) type HashSet<K> = std::collections::HashSet<K, RandomState>;
