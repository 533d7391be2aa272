package main

import (
	"context"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// reportOnPolicies waits until the server is ready, and then runs the one controller that the contract's
// answers depend on: it checks the types of admission policies and says which generation it has seen.
func reportOnPolicies(ctx context.Context, config *rest.Config) error {
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	if err := untilReady(transport, config.Host); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	shared := informers.NewSharedInformerFactory(client, 0)
	schemas := resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, scheme.Scheme, apiextensions.Scheme).
		Combine(&resolver.ClientDiscoveryResolver{Discovery: client.Discovery()})
	controller, err := validatingadmissionpolicystatus.NewController(
		shared.Admissionregistration().V1().ValidatingAdmissionPolicies(),
		client.AdmissionregistrationV1().ValidatingAdmissionPolicies(),
		&validating.TypeChecker{
			SchemaResolver: schemas,
			RestMapper:     restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
		},
	)
	if err != nil {
		return err
	}
	shared.Start(ctx.Done())
	go controller.Run(ctx, 1)
	return nil
}
