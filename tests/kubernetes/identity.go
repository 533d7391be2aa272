package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// identity is what a server and its administrator prove themselves with: paths of files.
type identity struct {
	authority, certificate, key, tokenKey, kubeconfig string
}

// makeIdentity makes an authority, the server's certificate, the key of service accounts' tokens, and a
// kubeconfig for an administrator.
func makeIdentity(folder, address string) (identity, error) {
	made := identity{
		authority:   filepath.Join(folder, "authority.crt"),
		certificate: filepath.Join(folder, "server.crt"),
		key:         filepath.Join(folder, "server.key"),
		tokenKey:    filepath.Join(folder, "tokens.key"),
		kubeconfig:  filepath.Join(folder, "kubeconfig"),
	}
	authorityKey, err := newKey()
	if err != nil {
		return made, err
	}
	authority := certificate("plumbline-test-authority")
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	authorityPEM, err := sign(authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return made, err
	}

	serverKey, err := newKey()
	if err != nil {
		return made, err
	}
	server := certificate("kube-apiserver")
	server.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
	server.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	serverPEM, err := sign(server, authority, serverKey.Public(), authorityKey)
	if err != nil {
		return made, err
	}

	adminKey, err := newKey()
	if err != nil {
		return made, err
	}
	admin := certificate("admin")
	admin.Subject.Organization = []string{"system:masters"}
	admin.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	adminPEM, err := sign(admin, authority, adminKey.Public(), authorityKey)
	if err != nil {
		return made, err
	}

	tokenKey, err := newKey()
	if err != nil {
		return made, err
	}
	keys := map[string]*ecdsa.PrivateKey{made.key: serverKey, made.tokenKey: tokenKey}
	for path, key := range keys {
		if err := writeKey(path, key); err != nil {
			return made, err
		}
	}
	for path, content := range map[string][]byte{made.authority: authorityPEM, made.certificate: serverPEM} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return made, err
		}
	}
	adminKeyPEM, err := keyPEM(adminKey)
	if err != nil {
		return made, err
	}
	config := api.NewConfig()
	config.Clusters["test"] = &api.Cluster{Server: address, CertificateAuthorityData: authorityPEM}
	config.AuthInfos["admin"] = &api.AuthInfo{ClientCertificateData: adminPEM, ClientKeyData: adminKeyPEM}
	config.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "admin", Namespace: "default"}
	config.CurrentContext = "test"
	return made, clientcmd.WriteToFile(*config, made.kubeconfig)
}

func certificate(name string) *x509.Certificate {
	return &x509.Certificate{
		Subject:   pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(7 * 24 * time.Hour),
		KeyUsage:  x509.KeyUsageDigitalSignature,
	}
}

func sign(subject, issuer *x509.Certificate, public crypto.PublicKey, key *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	subject.SerialNumber = serial
	content, err := x509.CreateCertificate(rand.Reader, subject, issuer, public, key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content}), nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	content, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: content}), nil
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	content, err := keyPEM(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
