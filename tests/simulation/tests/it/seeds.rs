use simulation::Simulation;

#[test]
fn the_same_seed_takes_the_same_course() {
    for seed in 0..20 {
        let run = || Simulation::new(seed).run().unwrap();
        let (one, other) = (run(), run());
        assert_eq!(one.steps, other.steps, "seed {seed}");
        assert_eq!(one.trace.fingerprint(), other.trace.fingerprint(), "seed {seed}");
    }
}
