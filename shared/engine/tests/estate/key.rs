use engine::identifiers::{PlanId, RunId};
use engine::record::key::{Decoded, EstateKeys, EstateName, KeyKind, MAX_SEGMENT, decode, encode};
use proptest::prelude::*;

#[test]
fn bytes_that_every_store_keeps_stay_and_all_others_are_escaped() {
    assert_eq!(encode("aws_vpc.main"), "aws_5fvpc.main");
    assert_eq!(encode("a.b-c[0]"), "a.b-c_5b0_5d");
    assert_eq!(encode("module.M[\"é/x\"]"), "module._4d_5b_22_c3_a9_2fx_22_5d");
}

#[test]
fn long_addresses_are_cut_between_escapes_and_end_in_a_digest() {
    // The 120th byte falls into an escape.
    let text = format!("{}{}", "a".repeat(118), "é".repeat(60));
    let encoded = encode(&text);
    let (start, digest) = encoded.split_once('~').unwrap();
    assert_eq!(start, "a".repeat(118));
    assert_eq!(digest.len(), 64);
    assert_eq!(decode(&encoded), Some(Decoded::Cut));
    assert_ne!(encode(&format!("{text}x")), encoded);
    let exact = "a".repeat(MAX_SEGMENT);
    assert_eq!(encode(&exact), exact);
}

#[test]
fn only_the_spelling_of_the_encoder_is_read() {
    for wrong in ["_61", "A", "_5F", "_5", "a/b", "_ff", "a~b", "é"] {
        assert_eq!(decode(wrong), None, "{wrong}");
    }
}

#[test]
fn keys_are_laid_out_below_prefix_and_estate() {
    let keys = EstateKeys::new("a/b", &EstateName::new("Prod").unwrap()).unwrap();
    let address = crate::support::address("module.m[\"k\"].aws_vpc.main[1]");
    let instance = keys.instance(&address).unwrap();
    assert_eq!(instance.as_str(), "a/b/_50rod/r/i/module.m_5b_22k_22_5d.aws_5fvpc.main_5b1_5d");
    assert_eq!(keys.kind(&instance), Some(KeyKind::Instance));
    let output = keys.output("vpc_id").unwrap();
    assert_eq!(output.as_str(), "a/b/_50rod/r/o/vpc_5fid");
    assert_eq!(keys.kind(&output), Some(KeyKind::Output));
    let run = RunId::from_stored("r1");
    assert_eq!(keys.kind(&keys.checks().unwrap()), Some(KeyKind::Checks));
    assert_eq!(keys.kind(&keys.stray(&address, &run).unwrap()), Some(KeyKind::Stray));
    assert_eq!(keys.estate().unwrap().as_str(), "a/b/_50rod/estate");
    let plan = PlanId::from_stored("p1");
    assert_eq!(keys.transaction(&plan).unwrap().as_str(), "a/b/_50rod/t/p1");
    assert_eq!(keys.journal(&run, 2).unwrap().as_str(), "a/b/_50rod/j/r1/2");
    assert_eq!(keys.kind(&keys.estate().unwrap()), None);
    let bare = EstateKeys::new("", &EstateName::new("x").unwrap()).unwrap();
    assert_eq!(bare.records(), "x/r/");
}

#[test]
fn names_that_no_estate_can_have_are_refused() {
    for name in ["", ".", "..", "a\nb", &"a".repeat(101)] {
        assert!(EstateName::new(name).is_err(), "{name:?}");
    }
}

proptest! {
    #[test]
    fn encoding_is_reversible_where_it_is_short(text in any::<String>()) {
        let encoded = encode(&text);
        prop_assert!(encoded.len() <= MAX_SEGMENT);
        match decode(&encoded) {
            Some(Decoded::Text(back)) => prop_assert_eq!(back, text),
            other => {
                prop_assert_eq!(other, Some(Decoded::Cut));
                prop_assert!(text.len() > MAX_SEGMENT / 3);
            }
        }
    }

    #[test]
    fn different_texts_stay_different_where_case_is_folded(
        (a, b) in ("[a-zA-Z_.\"é\\[\\]0-9~]{0,90}", "[a-zA-Z_.\"é\\[\\]0-9~]{0,90}"),
    ) {
        prop_assume!(a != b);
        prop_assert_ne!(encode(&a).to_uppercase(), encode(&b).to_uppercase());
    }

    #[test]
    fn only_harmless_bytes_come_out(text in any::<String>()) {
        let harmless = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~');
        prop_assert!(encode(&text).bytes().all(harmless));
    }
}
