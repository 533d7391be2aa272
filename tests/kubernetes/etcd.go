package main

import (
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd serves a fresh store on loopback and answers its address.
func startEtcd(folder string) (string, error) {
	address := func() (url.URL, error) {
		port, err := freePort()
		return url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}, err
	}
	client, err := address()
	if err != nil {
		return "", err
	}
	peer, err := address()
	if err != nil {
		return "", err
	}
	config := embed.NewConfig()
	config.Dir = folder
	config.LogLevel = "error"
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	// A cache of the API server whose objects do not change learns by this how recent it is: without it, a list from the
	// cache can wait until it times out.
	config.WatchProgressNotifyInterval = 5 * time.Second
	// What is kept here is of no use after the test.
	config.UnsafeNoFsync = true
	server, err := embed.StartEtcd(config)
	if err != nil {
		return "", err
	}
	select {
	case <-server.Server.ReadyNotify():
		return client.String(), nil
	case err := <-server.Err():
		return "", err
	case <-time.After(time.Minute):
		return "", fmt.Errorf("etcd is not ready after a minute")
	}
}
