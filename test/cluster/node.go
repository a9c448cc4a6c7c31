package main

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

const (
	heartbeatInterval = 10 * time.Second
	leaseSeconds      = int32(40)
)

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }

// registerNode makes a node, or takes over the one of an earlier start, and reports it ready.
func (k *kubelet) registerNode(ctx context.Context, name string) error {
	nodes := k.cs.CoreV1().Nodes()
	_, err := nodes.Create(ctx, &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			v1.LabelHostname: name, v1.LabelOSStable: "linux", v1.LabelArchStable: "amd64",
			v1.LabelTopologyZone: "zone-a", v1.LabelTopologyRegion: "region-1",
		}},
		Spec: v1.NodeSpec{ProviderID: "kubecluster://" + name},
	}, metav1.CreateOptions{})
	if err := ignoreExists(err); err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := nodes.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Status = nodeStatus(name, k.port)
		_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

func nodeStatus(name string, kubeletPort int32) v1.NodeStatus {
	capacity := v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("1000"), v1.ResourceMemory: resource.MustParse("4Ti"),
		v1.ResourcePods: resource.MustParse("10000"), v1.ResourceEphemeralStorage: resource.MustParse("10Ti"),
	}
	st := v1.NodeStatus{
		Capacity: capacity, Allocatable: capacity,
		Addresses: []v1.NodeAddress{
			{Type: v1.NodeInternalIP, Address: "127.0.0.1"},
			{Type: v1.NodeHostName, Address: name},
		},
		DaemonEndpoints: v1.NodeDaemonEndpoints{KubeletEndpoint: v1.DaemonEndpoint{Port: kubeletPort}},
		NodeInfo: v1.NodeSystemInfo{
			KubeletVersion: version.Get().GitVersion + "-fake", OperatingSystem: "linux", Architecture: "amd64",
			ContainerRuntimeVersion: "fake://1.0", OSImage: "kubecluster", KernelVersion: "0",
			MachineID: name, SystemUUID: name, BootID: name,
		},
	}
	now := metav1.Now()
	condition := func(t v1.NodeConditionType, status v1.ConditionStatus, reason string) {
		st.Conditions = append(st.Conditions, v1.NodeCondition{
			Type: t, Status: status, Reason: reason, Message: "fake kubelet",
			LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	condition(v1.NodeReady, v1.ConditionTrue, "KubeletReady")
	for _, t := range []v1.NodeConditionType{v1.NodeMemoryPressure, v1.NodeDiskPressure, v1.NodePIDPressure} {
		condition(t, v1.ConditionFalse, "KubeletHasNo"+string(t))
	}
	return st
}

// heartbeat renews the node's lease: without it the node would become NotReady after 40 s.
func (k *kubelet) heartbeat(ctx context.Context, name string) {
	leases := k.cs.CoordinationV1().Leases(v1.NamespaceNodeLease)
	spec := coordinationv1.LeaseSpec{
		HolderIdentity: ptr.To(name), LeaseDurationSeconds: ptr.To(leaseSeconds), RenewTime: ptr.To(metav1.NowMicro()),
	}
	lease, err := leases.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
	} else if err == nil {
		lease.Spec = spec
		_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	}
	if err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "fake kubelet: lease", "node", name)
	}
}
