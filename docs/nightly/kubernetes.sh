#!/bin/sh
# Not run in a cluster: only tested with a made-up kubectl. Each night from cron: kubernetes.sh IMAGE GPUS [NODE...]
# measures each node in a Job of its own (kubernetes.yml) that takes all its GPUS, then prints who did not report, what
# became worse, and who stands out. Without NODE: all nodes with the label nvidia.com/gpu.present=true.
#
# GPUBENCH_HISTORIES   where the volume gpubench-histories is mounted here ($HOME/gpubench/histories)
# GPUBENCH_MINUTES     a node that is not done after this does not report (180)
set -u
image=$1
gpus=$2
shift 2
histories=${GPUBENCH_HISTORIES:-$HOME/gpubench/histories}
end=$(($(date +%s) + 60 * ${GPUBENCH_MINUTES:-180}))
here=$(dirname "$0")
if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046  # names of nodes have no blanks
  set -- $(kubectl get nodes -l nvidia.com/gpu.present=true -o 'jsonpath={.items[*].metadata.name}')
fi
: >"$histories/.started"
kubectl delete jobs -l app=gpubench --ignore-not-found >/dev/null # those of the last night
for node in "$@"; do
  sed -e "s|NODE\$|$node|" -e "s|IMAGE |$image |" -e "s|GPUS |$gpus |" "$here/kubernetes.yml" | kubectl apply -f - >/dev/null
done
left=started
while [ -n "$left" ] && [ "$(date +%s)" -lt "$end" ]; do
  sleep 10
  left=$(kubectl get jobs -l app=gpubench -o \
    'jsonpath={range .items[?(@.status.active>0)]}{.metadata.name}{"\n"}{end}') || left="the cluster does not answer"
done
if [ -n "$left" ]; then
  echo "not done in time:"
  echo "$left"
  kubectl delete jobs -l app=gpubench --ignore-not-found >/dev/null
fi
exec "$here/report.sh" "$histories" "$histories/.started" "$@"
