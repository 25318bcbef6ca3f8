import type { Notice } from '../../src/transport/notice.ts';
import { sign } from '../../src/transport/signature.ts';

const AT = '2026-01-01T00:00:00.000Z';

/** A request as a Lambda function URL hands it over, payload format 2.0, whole. */
export function urlEvent(
  body: string,
  headers: Readonly<Record<string, string>>,
  more: { readonly path?: string; readonly method?: string; readonly isBase64Encoded?: boolean } = {},
) {
  const { path = '/v1/notices/course/k1', method = 'POST', isBase64Encoded = false } = more;
  const domain = 'a1b2c3d4e5f6g7h8i9j0.lambda-url.eu-central-1.on.aws';
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: {
      'content-length': String(body.length),
      'content-type': 'application/json',
      'x-amzn-tls-version': 'TLSv1.3',
      'x-amzn-trace-id': 'Root=1-67891233-abcdef012345678912345678',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-port': '443',
      'x-forwarded-proto': 'https',
      host: domain,
      'user-agent': 'node',
      ...headers,
    },
    requestContext: {
      accountId: 'anonymous',
      apiId: 'a1b2c3d4e5f6g7h8i9j0',
      domainName: domain,
      domainPrefix: 'a1b2c3d4e5f6g7h8i9j0',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'node' },
      requestId: '9d6c5f2e-0000-4000-8000-000000000000',
      routeKey: '$default',
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: Date.parse(AT),
    },
    ...(body === '' ? {} : { body }),
    isBase64Encoded,
  };
}

/** The headers of a body that is rightly signed at `now`, epoch ms. */
export function signedHeaders(
  body: string,
  id: string,
  secret: Uint8Array,
  now: number,
): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': sign({ id, timestamp, body }, secret),
  };
}

/** Messages as an event source mapping hands them over, whole. */
export function sqsEvent(records: readonly { readonly messageId: string; readonly body: string }[]) {
  return {
    Records: records.map(({ messageId, body }) => ({
      messageId,
      receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
      body,
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: String(Date.parse(AT)),
        SequenceNumber: '18849496460467696128',
        MessageGroupId: '1',
        SenderId: 'AIDAIO23YVJENQZJOL4VO',
        MessageDeduplicationId: '1',
        ApproximateFirstReceiveTimestamp: String(Date.parse(AT)),
      },
      messageAttributes: {},
      md5OfBody: 'e4e68fb7bd0e697a0ae8f1bb342846b3',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-central-1:123456789012:everwarm-dev.fifo',
      awsRegion: 'eu-central-1',
    })),
  };
}

/** An event as a rule of the bus hands it over, whole. */
export function busEvent(type: string, detail: unknown, id = '6a7e8feb-b491-4cf7-a9f1-bf3703467718') {
  return {
    version: '0',
    id,
    'detail-type': type,
    source: 'dev.everwarm.forwarder',
    account: '123456789012',
    time: AT,
    region: 'eu-central-1',
    resources: [],
    detail,
  };
}

/** A notice that the forwarder put on the bus. */
export function noticeEvent(notice: Notice) {
  return busEvent(notice.type, notice);
}
