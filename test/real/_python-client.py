"""One person's work with the Python client; argv: kubeconfig. Prints what it saw, one JSON object a line."""
import json
import sys
import threading

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException

config.load_kube_config(sys.argv[1])
core, apps, custom = client.CoreV1Api(), client.AppsV1Api(), client.CustomObjectsApi()
NS = "python"
GROUP, VERSION, PLURAL = "theia.cloud", "v1beta11", "appdefinitions"


def say(what, value):
    print(json.dumps([what, value], sort_keys=True, default=str), flush=True)


def refused(what, call):
    try:
        call()
        say(what, "not refused")
    except ApiException as error:
        body = json.loads(error.body)
        say(what, [error.status, body.get("reason"), body.get("message")])


core.create_namespace({"metadata": {"name": NS}})
say("namespace", core.read_namespace(NS).status.phase)

container = client.V1Container(name="main", image="web:1", ports=[client.V1ContainerPort(container_port=80)])
labels = {"app": "web"}
deployment = client.V1Deployment(
    metadata=client.V1ObjectMeta(name="web"),
    spec=client.V1DeploymentSpec(
        replicas=1,
        selector=client.V1LabelSelector(match_labels=labels),
        template=client.V1PodTemplateSpec(
            metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
        ),
    ),
)
made = apps.create_namespaced_deployment(NS, deployment)
say("deployment", [made.spec.strategy.type, made.spec.template.spec.containers[0].image_pull_policy])
apps.patch_namespaced_deployment("web", NS, {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "web:2"}]}}}})
say("patched", apps.read_namespaced_deployment("web", NS).spec.template.spec.containers[0].image)
apps.patch_namespaced_deployment_scale("web", NS, {"spec": {"replicas": 3}})
say("scaled", apps.read_namespaced_deployment_scale("web", NS).spec.replicas)

for name in ["a", "b", "c"]:
    core.create_namespaced_config_map(NS, {"metadata": {"name": name, "labels": {"letter": name}}, "data": {"k": name}})
page = core.list_namespaced_config_map(NS, limit=2, label_selector="letter")
say("page", [[item.metadata.name for item in page.items], page.metadata.remaining_item_count])
rest = core.list_namespaced_config_map(NS, limit=2, label_selector="letter", _continue=page.metadata._continue)
say("rest", [item.metadata.name for item in rest.items])

body = json.load(sys.stdin)
custom.create_namespaced_custom_object(GROUP, VERSION, NS, PLURAL, body)
listed = custom.list_namespaced_custom_object(GROUP, VERSION, NS, PLURAL)
say("custom", [[item["metadata"]["name"], item["spec"]["minInstances"]] for item in listed["items"]])

seen, stream = [], watch.Watch()
begin = listed["metadata"]["resourceVersion"]


def follow():
    for event in stream.stream(
        custom.list_namespaced_custom_object, GROUP, VERSION, NS, PLURAL, resource_version=begin, timeout_seconds=30
    ):
        seen.append([event["type"], event["object"]["spec"]["minInstances"]])
        if event["type"] == "DELETED":
            stream.stop()


follower = threading.Thread(target=follow)
follower.start()
for count in [1, 2]:
    custom.patch_namespaced_custom_object(GROUP, VERSION, NS, PLURAL, "java", {"spec": {"minInstances": count}})
custom.delete_namespaced_custom_object(GROUP, VERSION, NS, PLURAL, "java")
follower.join()
say("watched", seen)

refused("twice", lambda: core.create_namespaced_config_map(NS, {"metadata": {"name": "a"}}))
refused("missing", lambda: core.read_namespaced_config_map("z", NS))
refused("bad name", lambda: core.create_namespaced_config_map(NS, {"metadata": {"name": "A_"}}))
refused("bad field", lambda: custom.create_namespaced_custom_object(GROUP, VERSION, NS, PLURAL, {**body, "spec": {**body["spec"], "minInstances": "x"}}))
stale = core.read_namespaced_config_map("a", NS)
core.patch_namespaced_config_map("a", NS, {"data": {"k": "new"}})
stale.data = {"k": "old"}
refused("stale", lambda: core.replace_namespaced_config_map("a", NS, stale))
refused("wrong uid", lambda: core.delete_namespaced_config_map("a", NS, body={"preconditions": {"uid": "x"}}))
core.delete_collection_namespaced_config_map(NS, label_selector="letter in (a,b)")
say("left", [item.metadata.name for item in core.list_namespaced_config_map(NS, label_selector="letter").items])
