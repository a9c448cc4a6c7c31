package main

import (
	"context"
	"fmt"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	apiregv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/utils/ptr"
)

const (
	storageClass         = "standard"
	provisioner          = "kubecluster.test/fake"
	provisionedBy        = "pv.kubernetes.io/provisioned-by"
	metricsService       = "metrics-server"
	metricsAPI           = "metrics.k8s.io"
	loadBalancerAddress  = `{"status":{"loadBalancer":{"ingress":[{"ip":"203.0.113.10"}]}}}` // TEST-NET-3
	handlerAttempts      = 5
	handlerRetryInterval = 100 * time.Millisecond
)

// cloud plays the parts of a cloud that rollouts wait for: a default StorageClass whose claims
// are bound, addresses for LoadBalancer Services and Ingresses, and a metrics.k8s.io API.
type cloud struct {
	cs kubernetes.Interface
}

// run starts the handlers and registers the API objects; it does not wait for the end of ctx.
func (c cloud) run(ctx context.Context, cfg *rest.Config, p pki, metricsPort int32) error {
	f := informers.NewSharedInformerFactoryWithOptions(c.cs, 0, informers.WithTransform(dropManagedFields))
	for _, w := range []struct {
		informer cache.SharedIndexInformer
		handle   func(ctx context.Context, o any) error
	}{
		{f.Core().V1().Services().Informer(), c.addressService},
		{f.Networking().V1().Ingresses().Informer(), c.addressIngress},
		{f.Core().V1().PersistentVolumeClaims().Informer(), c.provisionVolume},
		{f.Core().V1().PersistentVolumes().Informer(), c.reclaimVolume},
	} {
		run := func(o any) { go retryUnlessStale(ctx, func() error { return w.handle(ctx, o) }) }
		handlers := cache.ResourceEventHandlerFuncs{AddFunc: run, UpdateFunc: func(_, o any) { run(o) }}
		if _, err := w.informer.AddEventHandler(handlers); err != nil {
			return err
		}
	}
	f.Start(ctx.Done())
	if err := c.createObjects(ctx); err != nil {
		return err
	}
	return registerMetricsAPI(ctx, cfg, p, metricsPort)
}

// retryUnlessStale gives up when the object is gone or has changed: its watch brings the news.
func retryUnlessStale(ctx context.Context, f func() error) {
	for try := range handlerAttempts {
		err := f()
		if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) || ctx.Err() != nil {
			return
		}
		klog.ErrorS(err, "fake cloud")
		time.Sleep(time.Duration(try+1) * handlerRetryInterval)
	}
}

// isLeftAlone tells whether an object is being deleted or annotated to get nothing from the cloud.
func isLeftAlone(o metav1.Object) bool {
	return o.GetDeletionTimestamp() != nil || o.GetAnnotations()[annOutcome] == outPending
}

func (c cloud) addressService(ctx context.Context, o any) error {
	s := o.(*v1.Service)
	if s.Spec.Type != v1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 || isLeftAlone(s) {
		return nil
	}
	_, err := c.cs.CoreV1().Services(s.Namespace).Patch(ctx, s.Name, types.MergePatchType,
		[]byte(loadBalancerAddress), metav1.PatchOptions{}, "status")
	return err
}

func (c cloud) addressIngress(ctx context.Context, o any) error {
	i := o.(*networkingv1.Ingress)
	if len(i.Status.LoadBalancer.Ingress) > 0 || isLeftAlone(i) {
		return nil
	}
	_, err := c.cs.NetworkingV1().Ingresses(i.Namespace).Patch(ctx, i.Name, types.MergePatchType,
		[]byte(loadBalancerAddress), metav1.PatchOptions{}, "status")
	return err
}

func (c cloud) provisionVolume(ctx context.Context, o any) error {
	claim := o.(*v1.PersistentVolumeClaim)
	if ptr.Deref(claim.Spec.StorageClassName, "") != storageClass || claim.Spec.VolumeName != "" || isLeftAlone(claim) {
		return nil
	}
	uid := string(claim.UID)
	_, err := c.cs.CoreV1().PersistentVolumes().Create(ctx, &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + uid, Annotations: map[string]string{provisionedBy: provisioner}},
		Spec: v1.PersistentVolumeSpec{
			Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes, VolumeMode: claim.Spec.VolumeMode,
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimDelete, StorageClassName: storageClass,
			ClaimRef: &v1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: v1.PersistentVolumeSource{HostPath: &v1.HostPathVolumeSource{Path: "/fake/" + uid}},
		}}, metav1.CreateOptions{})
	return ignoreExists(err)
}

func (c cloud) reclaimVolume(ctx context.Context, o any) error {
	v := o.(*v1.PersistentVolume)
	if v.Annotations[provisionedBy] != provisioner || v.Status.Phase != v1.VolumeReleased || v.DeletionTimestamp != nil {
		return nil
	}
	return c.cs.CoreV1().PersistentVolumes().Delete(ctx, v.Name, metav1.DeleteOptions{})
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (c cloud) createObjects(ctx context.Context) error {
	_, err := c.cs.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: storageClass, Annotations: map[string]string{
			"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner:       provisioner,
		ReclaimPolicy:     ptr.To(v1.PersistentVolumeReclaimDelete),
		VolumeBindingMode: ptr.To(storagev1.VolumeBindingImmediate),
	}, metav1.CreateOptions{})
	if err := ignoreExists(err); err != nil {
		return fmt.Errorf("storage class: %w", err)
	}
	_, err = c.cs.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "system:aggregated-metrics-reader", Labels: map[string]string{
			"rbac.authorization.k8s.io/aggregate-to-view":  "true",
			"rbac.authorization.k8s.io/aggregate-to-edit":  "true",
			"rbac.authorization.k8s.io/aggregate-to-admin": "true"}},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{metricsAPI}, Resources: []string{"pods", "nodes"}, Verbs: []string{"get", "list"}}},
	}, metav1.CreateOptions{})
	if err := ignoreExists(err); err != nil {
		return fmt.Errorf("metrics role: %w", err)
	}
	// An ExternalName Service lets the aggregator dial 127.0.0.1 (EndpointSlices may not hold loopback addresses).
	_, err = c.cs.CoreV1().Services(metav1.NamespaceSystem).Create(ctx, &v1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: metricsService, Namespace: metav1.NamespaceSystem},
		Spec:       v1.ServiceSpec{Type: v1.ServiceTypeExternalName, ExternalName: "localhost"},
	}, metav1.CreateOptions{})
	if err := ignoreExists(err); err != nil {
		return fmt.Errorf("metrics service: %w", err)
	}
	return nil
}

func registerMetricsAPI(ctx context.Context, cfg *rest.Config, p pki, port int32) error {
	caPEM, err := os.ReadFile(p.crt("ca"))
	if err != nil {
		return err
	}
	clients, err := aggregator.NewForConfig(cfg)
	if err != nil {
		return err
	}
	apis := clients.ApiregistrationV1().APIServices()
	want := &apiregv1.APIService{ObjectMeta: metav1.ObjectMeta{Name: "v1beta1." + metricsAPI}, Spec: apiregv1.APIServiceSpec{
		Service: &apiregv1.ServiceReference{Namespace: metav1.NamespaceSystem, Name: metricsService, Port: ptr.To(port)},
		Group:   metricsAPI, Version: "v1beta1", CABundle: caPEM, GroupPriorityMinimum: 100, VersionPriority: 100,
	}}
	_, err = apis.Create(ctx, want, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) { // restarted on the same --dir: the port has changed
		current, gerr := apis.Get(ctx, want.Name, metav1.GetOptions{})
		if gerr != nil {
			return gerr
		}
		current.Spec = want.Spec
		_, err = apis.Update(ctx, current, metav1.UpdateOptions{})
	}
	return err
}
