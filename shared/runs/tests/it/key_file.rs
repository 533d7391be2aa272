use engine::random::Random;
use runs::key_file::{KeyFileError, open};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::atomic::{AtomicU8, Ordering};

#[derive(Default)]
struct Counter(AtomicU8);

impl Random for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.fetch_add(1, Ordering::Relaxed));
    }
}

#[test]
fn a_key_is_made_once_and_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/plan.key");
    let random = Counter::default();
    let first = open(&path, &random).unwrap();
    assert_eq!(first.fingerprint(), open(&path, &random).unwrap().fingerprint());
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn processes_that_make_it_at_once_get_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.key");
    let random = Counter::default();
    let fingerprints: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| open(&path, &random).unwrap().fingerprint())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(fingerprints.windows(2).all(|pair| pair[0] == pair[1]), "{fingerprints:?}");
}

#[test]
fn a_file_that_others_can_read_or_that_is_cut_off_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.key");
    open(&path, &Counter::default()).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let error = open(&path, &Counter::default()).unwrap_err();
    assert!(matches!(error, KeyFileError::TooOpen { mode: 0o640, .. }), "{error}");
    assert!(error.to_string().contains("chmod 600"), "{error}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    for content in [&[1; 31][..], &[1; 33], b""] {
        std::fs::write(&path, content).unwrap();
        let error = open(&path, &Counter::default()).unwrap_err();
        assert!(matches!(error, KeyFileError::Damaged { .. }), "{error}");
    }
}
