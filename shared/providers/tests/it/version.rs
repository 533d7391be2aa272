use providers::install::{Version, VersionConstraints};

fn v(text: &str) -> Version {
    text.parse().unwrap()
}
fn c(text: &str) -> VersionConstraints {
    text.parse().unwrap()
}

#[test]
fn constraints_allow() {
    for (constraints, allowed, refused) in [
        ("", &["0.0.1", "9.0.0"][..], &["1.0.0-beta1"][..]),
        ("1.2.3", &["1.2.3"], &["1.2.4", "1.2.2"]),
        ("= 1.2", &["1.2.0"], &["1.2.1"]),
        ("!= 1.2.3", &["1.2.4"], &["1.2.3"]),
        ("> 1.2", &["1.2.1", "2.0.0"], &["1.2.0", "1.1.9"]),
        (">= 1.2", &["1.2.0"], &["1.1.9", "2.0.0-rc1"]),
        ("< 2", &["1.9.9"], &["2.0.0"]),
        ("<= 2.0.0", &["2.0.0"], &["2.0.1"]),
        ("~> 1.2.3", &["1.2.3", "1.2.9"], &["1.3.0", "1.2.2"]),
        ("~> 1.2", &["1.2.0", "1.9.0"], &["2.0.0", "1.1.0"]),
        ("~> 1", &["1.0.0", "1.9.0"], &["2.0.0"]),
        (">= 1.0, < 2.0, != 1.5.0", &["1.4.0"], &["1.5.0", "2.0.0"]),
        ("1.0.0-beta1", &["1.0.0-beta1"], &["1.0.0", "1.0.0-beta2"]),
        (">= 1.0.0-beta1", &["1.0.0"], &["1.0.0-beta1", "1.0.0-beta2"]),
    ] {
        for version in allowed {
            assert!(c(constraints).allow(&v(version)), "{constraints} allows {version}");
        }
        for version in refused {
            assert!(!c(constraints).allow(&v(version)), "{constraints} refuses {version}");
        }
    }
}

#[test]
fn versions_are_ordered_by_precedence() {
    let ordered = [
        "0.9.9",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.0+build",
        "1.0.1",
        "1.10.0",
    ];
    for pair in ordered.windows(2) {
        assert!(v(pair[0]) < v(pair[1]), "{pair:?}");
    }
    let versions = ordered.map(v);
    assert_eq!(c("~> 1.0").newest(&versions), Some(&v("1.10.0")));
    assert_eq!(c("> 2").newest(&versions), None);
}

#[test]
fn constraints_have_a_normal_form() {
    for (text, normal) in [
        ("", ""),
        ("= 1.2.3", "1.2.3"),
        ("~> 2", "~> 2.0"),
        ("~> 2.1.0", "~> 2.1.0"),
        (">= 2.0, >= 2", ">= 2.0.0"),
        ("< 3.0, >= 2.0.0, != 2.5", ">= 2.0.0, != 2.5.0, < 3.0.0"),
        ("<= 1.0.0, ~> 1.0, = 1.0.0, > 1.0.0", "> 1.0.0, 1.0.0, ~> 1.0, <= 1.0.0"),
        ("1.0.0-beta1", "1.0.0-beta1"),
    ] {
        assert_eq!(c(text).to_string(), normal, "{text}");
        assert_eq!(c(normal).to_string(), normal);
    }
}

#[test]
fn what_is_no_constraint_is_refused() {
    for text in ["1.2.3.4", "x", ">=", "=> 1.0", "1..2", "01.0.0", "v1.0.0", "1.0-beta", "1.0,"] {
        assert!(text.parse::<VersionConstraints>().is_err(), "{text}");
    }
    for text in ["", "1.0", "1.0.0-", "1.0.0-a..b", "1.0.0-a_b"] {
        assert!(text.parse::<Version>().is_err(), "{text}");
    }
}
