import { hexToBytes } from '../../../lib/hex.ts'
import { ok, type Result } from '../../../lib/result.ts'
import { passTurn } from '../../../lib/turns.ts'
import { OutputWithId } from '../../../protocol/node-answers.ts'
import { print } from '../../../protocol/schema/schema.ts'
import type { Services } from '../../../service/services.ts'
import {
  type ChangedOutput,
  type CommittedSlotRow,
  openSlotChanges,
  outputWithId,
  type SlotChanges,
} from '../../../service/slots/read-commitment.ts'
import type { LimitError } from '../../api-errors.ts'
import { startDownload } from '../download.ts'
import { binaryType, wantsBytes } from '../negotiation.ts'
import type { RestRequest } from '../request.ts'
import { jsonHeaders, type RouteResponse } from '../response.ts'

/**
 * What a slot changed, as JSON or as bytes (`UtxoChanges` and `UtxoChangesFull`). A genesis has any number of outputs, so the answer
 * is made piece by piece: it is sent whole where it is small, and else as a download, as it is made.
 */

/** How each output is written. */
interface OutputForm {
  json(output: ChangedOutput): string
  bytes(output: ChangedOutput): readonly Uint8Array[]
}

/** By its id. */
export const asId: OutputForm = {
  json: ({ outputId }) => JSON.stringify(outputId),
  bytes: ({ outputId }) => [hexToBytes(outputId)],
}

/** With the output itself. */
export const asOutputWithId: OutputForm = {
  json: (row) => JSON.stringify(print(OutputWithId, outputWithId(row))),
  bytes: ({ outputId, bytes }) => [hexToBytes(outputId), bytes],
}

/** Answers what a slot changed. */
export async function answerChanges(
  { commitmentId, slot }: CommittedSlotRow,
  { form, services, request }: { form: OutputForm; services: Services; request: RestRequest },
): Promise<Result<RouteResponse, LimitError>> {
  const changes = await openSlotChanges(services, slot)
  return wantsBytes(request)
    ? await answerPieces(bytesOf(hexToBytes(commitmentId), changes, form), {
        headers: { 'content-type': binaryType },
        whole: changes.isSmall ? (all) => Buffer.concat(all) : undefined,
        request,
      })
    : await answerPieces(jsonOf(commitmentId, changes, form), {
        headers: jsonHeaders,
        whole: changes.isSmall ? (all) => all.join('') : undefined,
        request,
      })
}

/** `whole` puts them together to be sent at once. */
async function answerPieces<T extends string | Uint8Array>(
  pieces: AsyncGenerator<T>,
  {
    headers,
    whole,
    request,
  }: {
    headers: RouteResponse['headers']
    whole: ((all: readonly T[]) => T) | undefined
    request: RestRequest
  },
): Promise<Result<RouteResponse, LimitError>> {
  if (whole !== undefined) {
    return ok({ status: 200, headers, body: whole(await Array.fromAsync(pieces)) })
  }
  const download = await startDownload(request.listen)
  return download.ok
    ? ok({ status: 200, headers, stream: { ...download.value, pieces } })
    : download
}

async function* jsonOf(
  commitmentId: string,
  { created, consumed }: SlotChanges,
  { json }: OutputForm,
): AsyncGenerator<string> {
  yield `{"commitmentId":"${commitmentId}","createdOutputs":[`
  yield* listOf(created, json)
  yield '],"consumedOutputs":['
  yield* listOf(consumed, json)
  yield ']}'
}

async function* listOf(
  pages: SlotChanges['created'],
  json: OutputForm['json'],
): AsyncGenerator<string> {
  let comma = ''
  for await (const some of groupsOf(pages)) {
    yield comma + some.map(json).join(',')
    comma = ','
  }
}

async function* bytesOf(
  commitmentId: Uint8Array,
  { created, consumed }: SlotChanges,
  { bytes }: OutputForm,
): AsyncGenerator<Uint8Array> {
  yield commitmentId
  for (const pages of [created, consumed]) {
    yield await lengthOf(pages)
    for await (const some of groupsOf(pages)) yield Buffer.concat(some.flatMap(bytes))
  }
}

/** The number of outputs in front of their list. */
async function lengthOf(pages: SlotChanges['created']): Promise<Uint8Array> {
  let count = 0
  for await (const { length } of pages) count += length
  const length = Buffer.alloc(4)
  length.writeUInt32LE(count)
  return length
}

/** No group is empty. */
async function* groupsOf(pages: SlotChanges['created']): AsyncGenerator<readonly ChangedOutput[]> {
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += printedPerTurn) {
      await passTurn()
      yield page.slice(at, at + printedPerTurn)
    }
  }
}

/** Printing so many outputs takes a few milliseconds. */
const printedPerTurn = 128
