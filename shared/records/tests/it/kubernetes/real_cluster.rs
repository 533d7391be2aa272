//! Against a real API server, where `PLUMBLINE_TEST_KUBECONFIG` names one whose user may do anything.
