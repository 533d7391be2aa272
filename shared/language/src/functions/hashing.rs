//! Digests, identifiers and the one decryption.

use super::FunctionContext;
use super::arguments::{integer, text};
use super::call::{CallError, Function, Parameter, ParameterType};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::DecodePrivateKey;
use sha2::Digest;
use uuid::Uuid;
use values::{Type, Value};

const STR: Parameter = Parameter::string("str");

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new(
        "base64sha256",
        "The SHA-256 digest of a string, in Base64.",
        &[STR],
        ParameterType::String,
        |_, a, _| Ok(Value::string(base64_sha256(text(a, 0).as_bytes()))),
    ),
    Function::new(
        "base64sha512",
        "The SHA-512 digest of a string, in Base64.",
        &[STR],
        ParameterType::String,
        |_, a, _| Ok(Value::string(base64_sha512(text(a, 0).as_bytes()))),
    ),
    Function::new(
        "bcrypt",
        "A bcrypt hash of a string, another one each time.",
        &[STR],
        ParameterType::String,
        bcrypt,
    )
    .variadic(&Parameter::number("cost").described("The cost, 10 where it is absent."))
    .unpredictable(),
    Function::new(
        "md5",
        "The MD5 digest of a string, in hexadecimal.",
        &[STR],
        ParameterType::String,
        |_, a, _| Ok(Value::string(md5(text(a, 0).as_bytes()))),
    ),
    Function::new(
        "rsadecrypt",
        "Decrypts a Base64 text that was encrypted with RSA PKCS #1 v1.5.",
        &[
            Parameter::string("ciphertext").marked_even_unknown(),
            Parameter::string("privatekey").marked_even_unknown(),
        ],
        ParameterType::String,
        rsadecrypt,
    ),
    Function::new(
        "sha1",
        "The SHA-1 digest of a string, in hexadecimal.",
        &[STR],
        ParameterType::String,
        |_, a, _| Ok(Value::string(sha1(text(a, 0).as_bytes()))),
    ),
    Function::new(
        "sha256",
        "The SHA-256 digest of a string, in hexadecimal.",
        &[STR],
        ParameterType::String,
        |_, a, _| Ok(Value::string(sha256(text(a, 0).as_bytes()))),
    ),
    Function::new(
        "sha512",
        "The SHA-512 digest of a string, in hexadecimal.",
        &[STR],
        ParameterType::String,
        |_, a, _| Ok(Value::string(sha512(text(a, 0).as_bytes()))),
    ),
    Function::new("uuid", "A random UUID.", &[], ParameterType::String, |context, _, _| {
        let mut bytes = [0; 16];
        context.random.fill(&mut bytes);
        // Not version 4: all bits are random, as Terraform has it.
        Ok(Value::string(Uuid::from_bytes(bytes).to_string()))
    })
    .unpredictable(),
    Function::new(
        "uuidv5",
        "The UUID of a name in a namespace.",
        &[Parameter::string("namespace"), Parameter::string("name")],
        ParameterType::String,
        uuidv5,
    ),
];

pub(super) fn base64_sha256(bytes: &[u8]) -> String {
    STANDARD.encode(sha2::Sha256::digest(bytes))
}
pub(super) fn base64_sha512(bytes: &[u8]) -> String {
    STANDARD.encode(sha2::Sha512::digest(bytes))
}
pub(super) fn md5(bytes: &[u8]) -> String {
    hex::encode(md5::Md5::digest(bytes))
}
pub(super) fn sha1(bytes: &[u8]) -> String {
    hex::encode(sha1::Sha1::digest(bytes))
}
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex::encode(sha2::Sha256::digest(bytes))
}
pub(super) fn sha512(bytes: &[u8]) -> String {
    hex::encode(sha2::Sha512::digest(bytes))
}

fn bcrypt(context: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    const DEFAULT_COST: i64 = 10;
    const LOWEST_COST: i64 = 4;
    let failed = |e: String| CallError::other(format!("error occurred generating password {e}"));
    let cost = if a.len() > 1 { integer(a, 1)? } else { DEFAULT_COST };
    if a.len() > 2 {
        return Err(CallError::other("bcrypt() takes no more than two arguments"));
    }
    let cost = if cost < LOWEST_COST { DEFAULT_COST } else { cost };
    let Some(cost) = u32::try_from(cost).ok().filter(|c| *c <= 31) else {
        let message =
            format!("crypto/bcrypt: cost {cost} is outside allowed inclusive range 4..31");
        return Err(failed(message));
    };
    let secret = text(a, 0).as_bytes();
    if secret.len() > 72 {
        return Err(failed("bcrypt: password length exceeds 72 bytes".into()));
    }
    let mut salt = [0; 16];
    context.random.fill(&mut salt);
    let hash = bcrypt::hash_with_salt(secret, cost, salt).map_err(|e| failed(e.to_string()))?;
    Ok(Value::string(hash.format_for_version(bcrypt::Version::TwoA)))
}

fn rsadecrypt(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let [input, key_value] = a else { return Err(CallError::other("wrong number of arguments")) };
    let ciphertext = super::encoding::decode_base64(text(a, 0)).map_err(|_| {
        let shown = super::arguments::quoted_unless_marked(text(a, 0), input.marks());
        CallError::argument(
            0,
            format!("failed to decode input {shown}: cipher text must be base64-encoded"),
        )
    })?;
    let refuse = |message: &str| CallError::argument(1, message);
    let pem = text(a, 1);
    if !pem.contains("-----BEGIN ") {
        return Err(refuse("invalid private key: ssh: no key found"));
    }
    let key = rsa::RsaPrivateKey::from_pkcs1_pem(pem)
        .ok()
        .or_else(|| rsa::RsaPrivateKey::from_pkcs8_pem(pem).ok())
        .ok_or_else(|| refuse("invalid private key: it is no RSA key in PEM"))?;
    let clear = key
        .decrypt(rsa::Pkcs1v15Encrypt, &ciphertext)
        .map_err(|_| CallError::other("failed to decrypt: crypto/rsa: decryption error"))?;
    let clear = String::from_utf8_lossy(&clear);
    Ok(Value::string(clear).with_marks(input.marks() | key_value.marks()))
}

fn uuidv5(_: &FunctionContext<'_>, a: &[Value], _: &Type) -> Result<Value, CallError> {
    let given = text(a, 0);
    let namespace = match given {
        "dns" => Uuid::NAMESPACE_DNS,
        "url" => Uuid::NAMESPACE_URL,
        "oid" => Uuid::NAMESPACE_OID,
        "x500" => Uuid::NAMESPACE_X500,
        other => Uuid::parse_str(other).map_err(|_| {
            let reason = match other.len() {
                32 | 36 | 38 | 45 => "invalid UUID format".to_owned(),
                length => format!("invalid UUID length: {length}"),
            };
            CallError::other(format!("uuidv5() doesn't support namespace {other} ({reason})"))
        })?,
    };
    Ok(Value::string(Uuid::new_v5(&namespace, text(a, 1).as_bytes()).to_string()))
}
