//! A registry of providers: packages with checksums that are signed.

use std::io::{Cursor, Write};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use crate::site::{Page, Site};

/// The curve's name, as OpenPGP has it.
const CURVE: [u8; 9] = [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01];

/// A registry on a site of its own.
pub struct ProviderRegistry {
    /// The site.
    pub site: Site,
    key: AuthorKey,
}

/// One version of a provider.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its type.
    pub ty: &'a str,
    /// The version.
    pub version: &'a str,
    /// Versions of the plugin protocol.
    pub protocols: &'a [&'a str],
    /// Platforms that have a package.
    pub platforms: &'a [&'a str],
}

/// The key of a provider's author: Ed25519 in OpenPGP's packets.
pub struct AuthorKey {
    pair: Ed25519KeyPair,
    body: Vec<u8>,
}

impl AuthorKey {
    /// The key that a seed makes.
    pub fn new(seed: u8) -> AuthorKey {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
        let point = [&[0x40], pair.public_key().as_ref()].concat();
        let body = [&[4, 0x60, 0, 0, 0, 22, 9][..], &CURVE, &number(&point)].concat();
        AuthorKey { pair, body }
    }

    fn fingerprint(&self) -> Vec<u8> {
        let length = u16::try_from(self.body.len()).unwrap().to_be_bytes();
        Sha1::digest([&[0x99], &length[..], &self.body].concat()).to_vec()
    }

    /// The key's short name.
    pub fn id(&self) -> String {
        hex::encode_upper(&self.fingerprint()[12..])
    }

    /// The public key in ASCII armor.
    pub fn armored(&self) -> String {
        let packets =
            [packet(6, &self.body), packet(13, b"An Author <author@example.com>")].concat();
        format!(
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{}\n-----END PGP PUBLIC KEY BLOCK-----\n",
            STANDARD.encode(packets)
        )
    }

    /// A detached signature.
    pub fn sign(&self, document: &[u8]) -> Vec<u8> {
        let fingerprint = self.fingerprint();
        let issuer = [&[22, 33, 4], &fingerprint[..]].concat();
        let created = [5, 2, 0x60, 0, 0, 0];
        let hashed = [&created[..], &issuer].concat();
        let length = u16::try_from(hashed.len()).unwrap().to_be_bytes();
        let head = [&[4, 0, 22, 8][..], &length, &hashed].concat();
        let end = [&[4, 0xff][..], &u32::try_from(head.len()).unwrap().to_be_bytes()].concat();
        let digest = Sha256::digest([document, &head, &end].concat());
        let signature = self.pair.sign(&digest);
        let (r, s) = signature.as_ref().split_at(32);
        packet(2, &[&head[..], &[0, 0], &digest[..2], &number(r), &number(s)].concat())
    }
}

/// A packet with a length of five octets.
fn packet(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[0xc0 | tag, 0xff], &u32::try_from(body.len()).unwrap().to_be_bytes()[..], body].concat()
}

/// A number with its length in bits.
fn number(bytes: &[u8]) -> Vec<u8> {
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let bytes = &bytes[first..];
    let bits = bytes.first().map_or(0, |top| bytes.len() * 8 - top.leading_zeros() as usize);
    [&u16::try_from(bits).unwrap().to_be_bytes()[..], bytes].concat()
}

impl Release<'_> {
    /// The file name of a package.
    pub fn archive(&self, platform: &str) -> String {
        format!("terraform-provider-{}_{}_{platform}.zip", self.ty, self.version)
    }
    /// The path of a package.
    pub fn archive_path(&self, platform: &str) -> String {
        format!("/files/{}", self.archive(platform))
    }
    /// The path of the checksums.
    pub fn checksums_path(&self) -> String {
        format!("/files/{}_{}_SHA256SUMS", self.ty, self.version)
    }
    /// The path of what the registry says of a package.
    pub fn download_path(&self, platform: &str) -> String {
        let (os, architecture) = platform.split_once('_').unwrap();
        let Release { namespace, ty, version, .. } = self;
        format!("/providers/{namespace}/{ty}/{version}/download/{os}/{architecture}")
    }
    /// The path of the list of versions.
    pub fn versions_path(&self) -> String {
        format!("/providers/{}/{}/versions", self.namespace, self.ty)
    }
}

/// A package with a program.
pub fn package(ty: &str, version: &str, content: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().unix_permissions(0o755);
    zip.start_file(format!("terraform-provider-{ty}_v{version}"), options).unwrap();
    zip.write_all(content.as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// A SHA-256 in hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

impl ProviderRegistry {
    /// Starts a registry without providers.
    pub fn start() -> ProviderRegistry {
        let site = Site::start();
        site.put("/.well-known/terraform.json", Page::json(r#"{"providers.v1": "/providers/"}"#));
        ProviderRegistry { site, key: AuthorKey::new(1) }
    }

    /// The key that signs what is published.
    pub fn key(&self) -> &AuthorKey {
        &self.key
    }

    /// Publishes a release, whose program says which it is.
    pub fn publish(&self, release: &Release<'_>) {
        let packages: Vec<(String, Vec<u8>)> = release
            .platforms
            .iter()
            .map(|platform| {
                let content = format!("{} {} {platform}", release.ty, release.version);
                ((*platform).to_owned(), package(release.ty, release.version, &content))
            })
            .collect();
        self.publish_packages(release, &packages);
    }

    /// Publishes a release with these packages.
    pub fn publish_packages(&self, release: &Release<'_>, packages: &[(String, Vec<u8>)]) {
        let mut checksums = String::new();
        for (platform, archive) in packages {
            let name = release.archive(platform);
            checksums.push_str(&format!("{}  {name}\n", sha256(archive)));
            self.site.put(release.archive_path(platform), Page::file(archive.clone()));
            let (os, architecture) = platform.split_once('_').unwrap();
            let keys = json!([{ "key_id": self.key.id(), "ascii_armor": self.key.armored() }]);
            let download = json!({
                "protocols": release.protocols,
                "os": os,
                "arch": architecture,
                "filename": name,
                "download_url": release.archive_path(platform),
                "shasum": sha256(archive),
                "shasums_url": release.checksums_path(),
                "shasums_signature_url": format!("{}.sig", release.checksums_path()),
                "signing_keys": { "gpg_public_keys": keys },
            });
            self.site.put(release.download_path(platform), Page::json(download.to_string()));
        }
        let signature = self.key.sign(checksums.as_bytes());
        self.site.put(format!("{}.sig", release.checksums_path()), Page::file(signature));
        self.site.put(release.checksums_path(), Page::file(checksums));
        self.list(release);
    }

    fn list(&self, release: &Release<'_>) {
        let path = release.versions_path();
        let mut list: Value = match self.site.has(&path) {
            true => serde_json::from_slice(&self.site.page(&path).body).unwrap(),
            false => json!({ "versions": [] }),
        };
        let entry = json!({ "version": release.version, "protocols": release.protocols });
        list["versions"].as_array_mut().unwrap().push(entry);
        self.site.put(path, Page::json(list.to_string()));
    }
}
