import { parseChainId } from '../../service/chain-id.ts'
import { setChainRecord } from '../../service/set-chain-record.ts'
import { toRest } from '../errors.ts'
import { checkContentType, parseJson } from './body.ts'
import { json, param, type Route } from './route.ts'

/** Sets the record of a chain (specification 4.1). The checks come in this order: token, chain id, body. */
export const setChainRecordRoute: Route = {
  method: 'POST',
  path: '/v1/chains/{chainID}/chainrecord',
  query: [],
  answer: async (request, services) => {
    const identity = await request.caller.requireWrite()
    if (!identity.ok) return toRest(identity.error)
    const chainId = param(request, 'chainID')
    const named = parseChainId(chainId, 'chainID')
    if (!named.ok) return toRest(named.error)
    const type = checkContentType(request.headers['content-type'], 'application/json')
    if (!type.ok) return toRest(type.error)
    const body = await request.body()
    if (!body.ok) return toRest(body.error)
    const record = parseJson(body.value)
    if (!record.ok) return toRest(record.error)
    const setBy = identity.value.name
    const saved = await setChainRecord(services, { chainId, record: record.value, setBy })
    if (!saved.ok) return toRest(saved.error)
    const { accessNodes, isActive, version, setAt } = saved.value
    return json(201, {
      chainID: saved.value.chainId,
      accessNodes,
      isActive,
      version,
      setBy,
      setAt: new Date(setAt).toISOString(),
    })
  },
}
