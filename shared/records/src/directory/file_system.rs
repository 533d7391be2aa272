//! Refuses file systems on which the store's promises do not hold.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, stat, statfs};

use crate::StoreError;

/// File systems whose files are on another machine, by the number that the kernel gives them.
const REMOTE: [(i64, &str); 12] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "SMB (CIFS)"),
    (0xfe53_4d42, "SMB 2"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1980_0202, "BeeGFS"),
    (0x7375_7245, "Coda"),
    (0x564c, "NCP"),
];

/// The number of all that run as a process, on this machine or another.
const FUSE: i64 = 0x6573_5546;

/// Those of them whose files are elsewhere, as the list of mounts calls them.
const REMOTE_FUSE: [&str; 17] = [
    "sshfs",
    "s3fs",
    "gcsfuse",
    "rclone",
    "glusterfs",
    "goofys",
    "mount-s3",
    "mountpoint-s3",
    "blobfuse",
    "blobfuse2",
    "juicefs",
    "davfs",
    "davfs2",
    "curlftpfs",
    "ceph-fuse",
    "seaweedfs",
    "geesefs",
];

/// Refuses a folder, which may not exist yet, that is on a network file system.
pub(super) fn require_local(root: &Path) -> Result<(), StoreError> {
    // What cannot be asked is not refused: the first lock or write says what is wrong.
    let Some(folder) = nearest(root) else { return Ok(()) };
    let Ok(file_system) = statfs(&folder) else { return Ok(()) };
    let mounted = || mounted_as(&folder);
    match remote_kind(i64::from(file_system.f_type), mounted) {
        None => Ok(()),
        Some(kind) => Err(StoreError::Unsuitable {
            location: root.display().to_string(),
            problem: format!(
                "it is on a network file system ({kind}), where another machine may not see a lock or a \
                 rename, so that two applies at once could overwrite each other's records. Keep the records \
                 in a folder on a disk of this machine, or, where several machines need them, in a bucket of \
                 S3 or in Kubernetes (see `store` in plumb.toml)"
            ),
        }),
    }
}

/// The folder itself, or the first above it that exists.
fn nearest(root: &Path) -> Option<PathBuf> {
    let root = std::path::absolute(root).ok()?;
    root.ancestors().find_map(|folder| folder.canonicalize().ok())
}

/// What a file system is called when its files are on another machine.
fn remote_kind(number: i64, mounted_as: impl FnOnce() -> Option<String>) -> Option<String> {
    // The number is of 32 bits, and some platforms widen it with its sign.
    let number = number & 0xffff_ffff;
    if number == FUSE {
        let name = mounted_as()?;
        let program = name.strip_prefix("fuse.")?;
        return REMOTE_FUSE.contains(&program).then(|| format!("FUSE, {program}"));
    }
    let known = REMOTE.iter().find(|(remote, _)| *remote == number);
    known.map(|(_, name)| (*name).to_owned())
}

/// What the list of mounts calls the file system of a folder.
fn mounted_as(folder: &Path) -> Option<String> {
    let device = stat(folder).ok()?.st_dev;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    kind_of_device(&mounts, &format!("{}:{}", major(device), minor(device)))
}

/// The type in the line of a device: `36 35 98:0 /root /mount options … - type source options`.
fn kind_of_device(mounts: &str, device: &str) -> Option<String> {
    mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        (mount.split(' ').nth(2)? == device)
            .then(|| file_system.split(' ').next())?
            .map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n\
                          40 22 0:34 / /mnt/there rw,nosuid - fuse.sshfs host:/ rw,user_id=0\n\
                          41 22 0:35 / /mnt/here rw,nosuid - fuse.ntfs-3g /dev/sdb1 rw\n";

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        let kind = |number, device: &str| remote_kind(number, || kind_of_device(MOUNTS, device));
        assert_eq!(kind(0x6969, "").as_deref(), Some("NFS"));
        assert_eq!(kind(0xff53_4d42, "").as_deref(), Some("SMB (CIFS)"));
        assert_eq!(kind(i64::from(0xfe53_4d42_u32.cast_signed()), "").as_deref(), Some("SMB 2"));
        assert_eq!(kind(FUSE, "0:34").as_deref(), Some("FUSE, sshfs"));
        for (number, device) in [(FUSE, "0:35"), (FUSE, "9:9"), (0xef53, ""), (0x0102_1994, "")] {
            assert_eq!(kind(number, device), None, "{number:x} {device}");
        }
    }

    #[test]
    fn a_folder_that_does_not_exist_is_judged_by_the_one_above_it() {
        let temporary = std::env::temp_dir();
        assert_eq!(nearest(&temporary.join("no/such/folder")), temporary.canonicalize().ok());
        assert!(require_local(&temporary.join("no/such/folder")).is_ok());
    }
}
