// Command kubernetes runs a real kube-apiserver over an embedded etcd on loopback, for tests:
//
//	kubernetes FOLDER
//
// It keeps everything in FOLDER, writes FOLDER/kubeconfig, whose user may do anything and impersonate anybody,
// and prints that file's path once the server is ready. It ends when its input does, so that it never
// outlives whoever started it. There are no nodes and no controllers but the one that reports on admission
// policies; a deleted namespace therefore stays in the phase Terminating.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: %s FOLDER", os.Args[0]))
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	if err := run(os.Args[1]); err != nil {
		fail(err)
	}
}

func run(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	identity, err := makeIdentity(folder, fmt.Sprintf("https://127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	etcd, err := startEtcd(filepath.Join(folder, "etcd"))
	if err != nil {
		return err
	}
	go func() {
		if err := announce(identity); err != nil {
			fail(err)
		}
	}()
	command := app.NewAPIServerCommand()
	command.SetArgs([]string{
		"--advertise-address=127.0.0.1",
		"--allow-privileged=true",
		"--authorization-mode=RBAC",
		"--bind-address=127.0.0.1",
		"--client-ca-file=" + identity.authority,
		// Pods are only objects here; no controller makes the service accounts that they would name.
		"--disable-admission-plugins=ServiceAccount",
		// The address 127.0.0.1 is refused as an endpoint of the service "kubernetes", which nobody needs here.
		"--endpoint-reconciler-type=none",
		"--etcd-servers=" + etcd,
		"--profiling=false",
		fmt.Sprintf("--secure-port=%d", port),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + identity.tokenKey,
		"--service-account-signing-key-file=" + identity.tokenKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--tls-cert-file=" + identity.certificate,
		"--tls-private-key-file=" + identity.key,
		"-v=0",
	})
	os.Exit(cli.Run(command))
	return nil
}

// announce waits until the server is ready, starts the controller, and prints the kubeconfig's path.
func announce(identity identity) error {
	config, err := clientcmd.BuildConfigFromFlags("", identity.kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	if err := reportOnPolicies(context.Background(), config); err != nil {
		return err
	}
	fmt.Println(identity.kubeconfig)
	return nil
}

// untilReady waits for the server's own word that it is ready.
func untilReady(client *http.Client, address string) error {
	deadline := time.Now().Add(2 * time.Minute)
	for {
		answer, err := client.Get(address + "/readyz?verbose")
		if err == nil {
			checks, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("/readyz answers %s: %s", answer.Status, checks)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server is not ready after two minutes: %w", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "kubernetes:", err)
	os.Exit(1)
}
