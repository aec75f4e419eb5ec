import {
  type Attributes,
  type Context,
  context,
  ProxyTracerProvider,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'

/**
 * Spans of the gateway, by the API of OpenTelemetry alone: the operator brings the SDK (docs/tracing.md), and without one
 * nothing is made. The API is one for the whole process, so spans are begun where the work is, and no tracer is passed on.
 */

/** What is known of a span when it begins. */
export interface SpanOptions {
  /** By default a span within this program; a request is one of a server, a call of another program one of a client. */
  readonly kind?: keyof typeof kinds
  readonly attributes?: Attributes
  /** Makes it only as a part of a trace: what the program asks every second by itself would be as many traces. */
  readonly isInner?: boolean
  /** By default the span under way. */
  readonly parent?: Context | undefined
}

/** A span that has begun, and the context of what belongs to it. */
export interface BegunSpan {
  readonly span: Span
  readonly context: Context
}

/** Header names and values, or members of `extensions`. */
export type TraceCarrier = Readonly<Record<string, unknown>>

/** Runs work as a span. A failure is recorded and goes on. */
export function inSpan<T>(name: string, work: () => Promise<T>, options?: SpanOptions): Promise<T> {
  const begun = beginSpan(name, options)
  return begun === undefined ? work() : settled(begun, work)
}

async function settled<T>(
  { span, context: within }: BegunSpan,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await context.with(within, work)
  } catch (failure) {
    span.recordException(failure instanceof Error ? failure : String(failure))
    span.setStatus({ code: SpanStatusCode.ERROR })
    throw failure
  } finally {
    span.end()
  }
}

/** Begins a span, which the caller ends; `undefined` without an SDK. */
export function beginSpan(
  name: string,
  { kind = 'internal', attributes = {}, isInner = false, parent }: SpanOptions = {},
): BegunSpan | undefined {
  const tracer = tracerNow()
  if (tracer === undefined) return undefined
  const outside = parent ?? context.active()
  if (isInner && trace.getSpan(outside) === undefined) return undefined
  const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, outside)
  return { span, context: trace.setSpan(outside, span) }
}

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER }

/** Runs work within a span that has begun. */
export function within<T>(begun: BegunSpan | undefined, work: () => T): T {
  return begun === undefined ? work() : context.with(begun.context, work)
}

/** The trace under way, to go on with it later; `undefined` without an SDK. */
export function traceNow(): Context | undefined {
  return isTracing() ? context.active() : undefined
}

/** The trace that a client or another program goes on with here (W3C Trace Context), from what it sent. */
export function traceOf(carrier: TraceCarrier): Context | undefined {
  return isTracing() ? propagation.extract(context.active(), carrier) : undefined
}

/** What carries a trace to another program: `traceparent` and, where it has one, `tracestate`. Empty without an SDK. */
export function carriedTrace(of: Context | undefined = traceNow()): Record<string, string> {
  const carrier: Record<string, string> = {}
  if (of !== undefined) propagation.inject(of, carrier)
  return carrier
}

/** Whether an SDK is registered. */
export function isTracing(): boolean {
  return tracerNow() !== undefined
}

/** Asked each time, for it costs some nanoseconds: an SDK is registered once, before or after this module is loaded. */
function tracerNow(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  // An SDK with its own copy of the API registers a provider of that copy.
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(tracerName)
    : provider.getTracer(tracerName)
}

const tracerName = 'ledger-gateway'
