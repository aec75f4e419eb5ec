import { useSignal } from '@preact/signals'
import { type DecodePageData, document } from '../../generated/explorer/decode.ts'
import { document as submission } from '../../generated/explorer/submit-block.ts'
import { grouped, words as wordsOf } from '../format.ts'
import { fieldOf, sendDocument } from '../graphql.ts'
import type { PageViewProps } from '../page.tsx'
import { ByteTree } from '../parts/bytes/byte-tree.tsx'
import { Fact, Facts, Section } from '../parts/facts.tsx'
import { BrokenRule, BrokenRules } from '../parts/tools/broken-rule.tsx'
import { FailureNote } from '../parts/tools/failure-note.tsx'
import { linkToValue, PasteHead, SearchFor } from '../parts/tools/paste.tsx'
import { looksLikeId, variablesOf } from '../parts/tools/pasted.ts'
import { TransactionFacts } from '../parts/transactions/transaction-inspection.tsx'
import { Id } from '../parts/values/id.tsx'
import { Mark } from '../parts/values/mark.tsx'
import { Slot } from '../parts/values/moments.tsx'
import { AmountFact, CountFact, IdFact } from '../parts/values/value-facts.tsx'
import { place as currentPlace, linkTo, navigate, type Place } from '../router.ts'
import { texts } from '../texts.ts'
import { toolTexts } from '../texts-tools.ts'
import { toolPage } from '../tool-page.tsx'
import '../styles/details.css'

/** The tool that decodes bytes, JSON or an address. On a development network it can also submit a block. */

type Inspection = NonNullable<DecodePageData['inspect']>
type Of<Name extends Inspection['__typename']> = Extract<Inspection, { readonly __typename: Name }>

const words = toolTexts.decode

export const page = toolPage(document, DecodePage, {
  title: words.title,
  variables: variablesOf,
  // The meaning of bytes never changes.
  live: () => 'NEVER',
})

function DecodePage({
  data: { inspect, network },
  place,
  failures,
}: PageViewProps<DecodePageData>) {
  return (
    <>
      <PasteHead words={words} place={place} failure={failures[0]} />
      {inspect != null && (
        <Section title={words.kinds[inspect.__typename] ?? inspect.__typename}>
          <Inspected of={inspect} place={place} />
          {'blockId' in inspect && network.isDevelopment && (
            <Send bytes={inspect.bytes} place={place} />
          )}
        </Section>
      )}
      {inspect != null && 'fields' in inspect && (
        <ByteTree fields={inspect.fields} bytes={inspect.bytes} />
      )}
    </>
  )
}

function Inspected({ of, place }: { readonly of: Inspection; readonly place: Place }) {
  switch (of.__typename) {
    case 'BlockInspection':
      return <BlockFacts of={of} place={place} />
    case 'TransactionInspection':
      return (
        <Facts>
          <TransactionFacts of={of} />
          <ToVerify place={place} />
        </Facts>
      )
    case 'OutputInspection':
      return <OutputFacts of={of} />
    case 'AddressInspection':
      return <AddressFacts of={of} place={place} />
    case 'BrokenRule':
      return (
        <>
          <BrokenRule of={of} />
          {looksLikeId(place.fragment) && (
            <>
              <p>{toolTexts.paste.asId}</p>
              <SearchFor text={place.fragment} />
            </>
          )}
        </>
      )
  }
}

function BlockFacts({
  of: block,
  place,
}: {
  readonly of: Of<'BlockInspection'>
  readonly place: Place
}) {
  return (
    <>
      <Facts>
        <IdFact name={words.id} of="block" id={block.blockId} isWhole />
        <Fact name={words.slot}>{grouped(block.slot)}</Fact>
        <Fact name={words.size}>{words.bytes(grouped(block.size))}</Fact>
        <CountFact name={words.workScore} value={block.workScore} />
        <Fact name={words.signature}>
          <Mark as={block.isSignatureValid ? 'done' : 'failed'}>
            {block.isSignatureValid ? words.right : words.wrong}
          </Mark>
        </Fact>
        {block.transaction !== null && <TransactionFacts of={block.transaction} />}
        <Fact name={words.problems}>{block.problems.length === 0 && words.noProblems}</Fact>
        <ToVerify place={place} />
      </Facts>
      <BrokenRules of={block.problems} />
    </>
  )
}

function ToVerify({ place }: { readonly place: Place }) {
  return (
    <Fact name={toolTexts.verify.title}>
      <a class="link-in-text" href={linkToValue('verify', place.fragment)}>
        {words.verify}
      </a>
    </Fact>
  )
}

function OutputFacts({ of: output }: { readonly of: Of<'OutputInspection'> }) {
  return (
    <Facts>
      <Fact name={words.outputKind}>{wordsOf(output.content.__typename)}</Fact>
      <AmountFact name={words.amount} value={output.content.amount} />
      <AmountFact name={words.minimumAmount} value={output.minimumAmount} />
      <CountFact name={words.storageScore} value={output.storageScore} />
      {output.content.unlockConditions.map((condition) => (
        <Fact
          key={condition.__typename}
          name={wordsOf(condition.__typename.replace('UnlockCondition', ''))}
        >
          {'slot' in condition && <Slot index={condition.slot} />}{' '}
          {'address' in condition && <Id of="address" id={condition.address.bech32} />}
          {'returnAddress' in condition && <Id of="address" id={condition.returnAddress.bech32} />}
        </Fact>
      ))}
    </Facts>
  )
}

function AddressFacts({
  of,
  place,
}: {
  readonly of: Of<'AddressInspection'>
  readonly place: Place
}) {
  const { bech32, kind } = of.address
  const given = place.fragment.trim().toLowerCase()
  return (
    <Facts>
      <Fact name={words.address}>
        <Id of="address" id={bech32} isWhole />
        {/1/.test(given) && /^[a-z]/.test(given) && given !== bech32 && <p>{words.otherNetwork}</p>}
      </Fact>
      <Fact name={words.addressKind}>{texts.addressKind[kind] ?? kind}</Fact>
    </Facts>
  )
}

type Sending =
  | { readonly is: 'WAITING' }
  | { readonly is: 'UNDER_WAY' }
  | { readonly is: 'REFUSED'; readonly sentence: string }

/** Submits the block, and opens its page unless the user has opened another page meanwhile. */
function Send({ bytes, place }: { readonly bytes: string; readonly place: Place }) {
  const sending = useSignal<Sending>({ is: 'WAITING' })
  const send = async () => {
    sending.value = { is: 'UNDER_WAY' }
    const submitted = fieldOf(await sendDocument(submission, { input: { bytes } }), 'submitBlock')
    if (currentPlace.peek() !== place) return
    if (submitted.ok) return navigate(linkTo('block', { id: submitted.value.blockId }))
    const { code, message } = submitted.failure
    sending.value = { is: 'REFUSED', sentence: message === '' ? code : message }
  }
  const { value } = sending
  return (
    <div class="paste">
      <p>
        <button type="button" class="button" disabled={value.is === 'UNDER_WAY'} onClick={send}>
          {value.is === 'UNDER_WAY' ? words.sending : words.send}
        </button>
      </p>
      {value.is === 'REFUSED' && (
        <FailureNote role="alert" title={words.sent}>
          <p>{value.sentence}</p>
        </FailureNote>
      )}
    </div>
  )
}
