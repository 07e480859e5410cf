"""The API server, as far as the operator needs it: each method is one request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import aiohttp
from kubernetes.aio import client as aio
from kubernetes.aio import config as aio_config

from fairway.api import names
from fairway.kube.errors import KubeError, KubeUnavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

Object = dict[str, Any]
"""A Kubernetes object as JSON."""

_PATCH = "application/json-patch+json"
_APPLY = "application/apply-patch+yaml"
_JSON = "application/json"
_METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_TIMEOUT_S = 30.0
_PAGE = 500
_FIRST_ERROR = 400


@dataclass(frozen=True, slots=True)
class Identity:
    """One object, told from all others that had or will have its name."""

    name: str
    uid: str
    namespace: str | None = None


class Kube:
    """A connection to the API server. Make it with `Kube.connect`.

    Every method raises `KubeUnavailable` when the server does not answer and `KubeError` when it refuses.
    """

    def __init__(self, api: Any) -> None:
        self._api = api

    @classmethod
    async def connect(cls) -> Self:
        """Return a connection as the pod's service account or, outside a cluster, as KUBECONFIG says."""
        configuration: Any = aio.Configuration()
        loader: Any = aio_config  # its functions carry no types
        try:
            loader.load_incluster_config(client_configuration=configuration)
        except aio_config.ConfigException:
            try:
                await loader.load_kube_config(client_configuration=configuration, persist_config=False)
            except aio_config.ConfigException as error:
                raise KubeUnavailable(f"no cluster is configured: {error}") from error
        return cls(aio.ApiClient(configuration))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._api.close()

    # -- our own kinds -------------------------------------------------------------------------------------

    async def get(self, plural: str, name: str, namespace: str | None = None) -> Object | None:
        """Return one of our objects; None: there is no such object."""
        return await self._found("GET", _custom_path(plural, name, namespace))

    async def list_objects(self, plural: str) -> AsyncIterator[Object]:
        """Yield all objects of one of our kinds, in all namespaces."""
        async for each in self._pages(_custom_path(plural)):
            yield each

    async def list_metadata(self, plural: str) -> AsyncIterator[Object]:
        """Yield the metadata of all objects of one of our kinds: names and uids without payloads."""
        async for each in self._pages(_custom_path(plural), headers={"Accept": _METADATA_ONLY}):
            yield each["metadata"]

    async def replace_status(self, plural: str, found: Identity, status: Mapping[str, Any]) -> Object | None:
        """Make `status` the whole status of an object; None: the object with this uid is gone.

        A JSON patch, because a merge patch would lose the nulls in a job's result. It first tests the uid, so
        that nothing is written to an object that took the place of a deleted one with the same name.
        """
        path = f"{_custom_path(plural, found.name, found.namespace)}/status"
        body = [
            {"op": "test", "path": "/metadata/uid", "value": found.uid},
            {"op": "add", "path": "/status", "value": dict(status)},
        ]
        query = {"fieldManager": names.FIELD_MANAGER}
        try:
            return await self._found("PATCH", path, query=query, body=body, headers={"Content-Type": _PATCH})
        except KubeError as error:
            if error.temporary:
                raise
            live = await self.get(plural, found.name, found.namespace)
            if live is None or live["metadata"]["uid"] != found.uid:
                return None
            raise

    # -- what workers are made of --------------------------------------------------------------------------

    async def get_config_map(self, namespace: str, name: str) -> Object | None:
        """Return a ConfigMap; None: there is none."""
        return await self._found("GET", f"/api/v1/namespaces/{namespace}/configmaps/{name}")

    async def apply_deployment(self, deployment: Mapping[str, Any]) -> Object:
        """Make a Deployment what is given, owning exactly the given fields."""
        metadata = deployment["metadata"]
        path = f"{_deployments_path(metadata['namespace'])}/{metadata['name']}"
        query = {"fieldManager": names.FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
        return await self._call("PATCH", path, query, deployment, {"Content-Type": _APPLY})

    async def list_deployments(self, namespace: str, selector: str) -> list[Object]:
        """Return the Deployments with the given labels."""
        path, query = _deployments_path(namespace), {"labelSelector": selector}
        return [each async for each in self._pages(path, query)]

    async def delete_deployment(self, namespace: str, name: str, uid: str) -> None:
        """Delete a Deployment and its pods, if it is still the one with this uid."""
        body = {"propagationPolicy": "Background", "preconditions": {"uid": uid}}
        await self._found("DELETE", f"{_deployments_path(namespace)}/{name}", body=body)

    async def list_pods(self, namespace: str, selector: str, limit: int) -> list[Object]:
        """Return up to `limit` pods with the given labels."""
        query = {"labelSelector": selector, "limit": str(limit)}
        answer = await self._call("GET", f"/api/v1/namespaces/{namespace}/pods", query=query)
        return list(answer.get("items") or [])

    # -- requests ------------------------------------------------------------------------------------------

    async def _pages(
        self, path: str, query: Mapping[str, str] | None = None, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[Object]:
        following = ""
        while True:
            page = {**(query or {}), "limit": str(_PAGE), **({"continue": following} if following else {})}
            answer = await self._call("GET", path, page, headers=headers)
            for each in answer.get("items") or []:
                yield each
            following = (answer.get("metadata") or {}).get("continue") or ""
            if not following:
                return

    async def _found(self, method: str, path: str, **request: Any) -> Object | None:
        try:
            return await self._call(method, path, **request)
        except KubeError as error:
            if error.not_found:
                return None
            raise

    async def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | list[Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Object:
        try:
            prepared = await self._api.param_serialize(
                method,
                path,
                query_params=list((query or {}).items()),
                header_params={"Accept": _JSON, "Content-Type": _JSON, **(headers or {})},
                body=dict(body) if isinstance(body, Mapping) else body,
                auth_settings=["BearerToken"],
            )
            response = await self._api.call_api(*prepared, _request_timeout=_TIMEOUT_S)
            raw: bytes = await response.read()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            told = str(error) or type(error).__name__
            raise KubeUnavailable(f"the API server does not answer: {told}") from error
        if response.status >= _FIRST_ERROR:
            raise _refusal(response.status, raw)
        answer: Object = json.loads(raw)
        return answer


def _refusal(status: int, raw: bytes) -> KubeError:
    try:
        told: Object = json.loads(raw)
    except ValueError:
        told = {}
    message = told.get("message") or raw.decode(errors="replace") or f"HTTP {status}"
    return KubeError(status, told.get("reason") or "", message)


def _custom_path(plural: str, name: str | None = None, namespace: str | None = None) -> str:
    where = f"/namespaces/{namespace}" if namespace else ""
    which = f"/{name}" if name else ""
    return f"/apis/{names.GROUP}/{names.VERSION}{where}/{plural}{which}"


def _deployments_path(namespace: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments"
