// Written by Scripts/embed-telemetry-hosts.sh; edit the list there and run it again.
//
// Origin: the product's own list of hosts that collect telemetry (RULES section 3). Host-level entries where a vendor's
// registrable domain also serves something else. The names were not resolved or checked live: a first list, which
// users extend by files of their own.

/// The built-in list in the product's TSV form: domain, category, vendor; `#` begins a comment line.
///
/// One literal, read when first asked for: a dictionary literal of this size would slow the build down, and a resource
/// file would have to travel with the executable.
let telemetryHostListText = """
    2o7.net	analytics	Adobe Analytics
    adobedc.net	analytics	Adobe Experience Platform
    amplitude.com	analytics	Amplitude
    analytics.google.com	analytics	Google Analytics
    app-measurement.com	analytics	Google (Firebase Analytics)
    appmetrica.yandex.net	analytics	Yandex AppMetrica
    aptabase.com	analytics	Aptabase
    aptrinsic.com	analytics	Gainsight PX
    chartbeat.net	analytics	Chartbeat
    cloud.unity3d.com	analytics	Unity Analytics
    count.ly	analytics	Countly
    demdex.net	analytics	Adobe Audience Manager
    devtodev.com	analytics	devtodev
    events.data.microsoft.com	analytics	Microsoft telemetry
    firebaselogging-pa.googleapis.com	analytics	Google (Firebase logging)
    firebaselogging.googleapis.com	analytics	Google (Firebase logging)
    flurry.com	analytics	Flurry
    gameanalytics.com	analytics	GameAnalytics
    google-analytics.com	analytics	Google Analytics
    heapanalytics.com	analytics	Heap (Contentsquare)
    imrworldwide.com	analytics	Nielsen
    indicative.com	analytics	mParticle Indicative
    keen.io	analytics	Keen
    kissmetrics.io	analytics	Kissmetrics
    localytics.com	analytics	Localytics (Upland)
    matomo.cloud	analytics	Matomo (InnoCraft)
    mc.yandex.ru	analytics	Yandex Metrica
    mixpanel.com	analytics	Mixpanel
    mparticle.com	analytics	mParticle (Rokt)
    mxpnl.com	analytics	Mixpanel
    omtrdc.net	analytics	Adobe Analytics
    parsely.com	analytics	Parse.ly
    pendo.io	analytics	Pendo
    piwik.pro	analytics	Piwik PRO
    plausible.io	analytics	Plausible
    posthog.com	analytics	PostHog
    quantserve.com	analytics	Quantcast
    rudderlabs.com	analytics	RudderStack
    rudderstack.com	analytics	RudderStack
    scorecardresearch.com	analytics	Comscore
    segment.com	analytics	Twilio Segment
    segment.io	analytics	Twilio Segment
    segmentapis.com	analytics	Twilio Segment
    snplow.net	analytics	Snowplow
    startup.mobile.yandex.net	analytics	Yandex AppMetrica
    talkingdata.com	analytics	TalkingData
    talkingdata.net	analytics	TalkingData
    tealiumiq.com	analytics	Tealium
    telemetrydeck.com	analytics	TelemetryDeck
    umeng.com	analytics	Umeng+
    umengcloud.com	analytics	Umeng+
    usermaven.com	analytics	Usermaven
    woopra.com	analytics	Woopra
    xiti.com	analytics	Piano (AT Internet)
    googletagmanager.com	tag-manager	Google Tag Manager
    firebaseinstallations.googleapis.com	device-id	Google (Firebase Installations)
    abtasty.com	feature-flag	AB Tasty
    apptimize.com	feature-flag	Apptimize (Airship)
    configcat.com	feature-flag	ConfigCat
    featureassets.org	feature-flag	Statsig
    firebaseremoteconfig.googleapis.com	feature-flag	Google (Firebase Remote Config)
    launchdarkly.com	feature-flag	LaunchDarkly
    optimizely.com	feature-flag	Optimizely
    split.io	feature-flag	Harness Split
    statsig.com	feature-flag	Statsig
    statsigapi.net	feature-flag	Statsig
    visualwebsiteoptimizer.com	feature-flag	VWO (Wingify)
    adjust.com	attribution	Adjust (AppLovin)
    adjust.io	attribution	Adjust (AppLovin)
    adjust.net.in	attribution	Adjust (AppLovin)
    adjust.world	attribution	Adjust (AppLovin)
    airbridge.io	attribution	Airbridge
    appsflyer.com	attribution	AppsFlyer
    appsflyersdk.com	attribution	AppsFlyer
    apsalar.com	attribution	Singular
    branch.io	attribution	Branch
    hasoffers.com	attribution	TUNE
    kochava.com	attribution	Kochava
    mobileapptracking.com	attribution	TUNE (Branch)
    singular.net	attribution	Singular
    tenjin.com	attribution	Tenjin
    tenjin.io	attribution	Tenjin
    trackier.com	attribution	Trackier
    usebutton.com	attribution	Button
    abr.ge	deep-link	Airbridge
    adj.st	deep-link	Adjust (AppLovin)
    app.link	deep-link	Branch
    bnc.lt	deep-link	Branch
    go.link	deep-link	Adjust (AppLovin)
    onelink.me	deep-link	AppsFlyer
    page.link	deep-link	Google (Firebase Dynamic Links)
    smart.link	deep-link	Kochava
    sng.link	deep-link	Singular
    airbrake.io	crash	Airbrake
    appcenter.ms	crash	App Center (Microsoft)
    backtrace.io	crash	Backtrace (Sauce Labs)
    bugfender.com	crash	Bugfender
    bugsee.com	crash	Bugsee
    bugsnag.com	crash	BugSnag (SmartBear)
    bugsnag.smartbear.com	crash	BugSnag (SmartBear)
    crashlytics.com	crash	Google (Crashlytics)
    crashlyticsreports-pa.googleapis.com	crash	Google (Crashlytics)
    crittercism.com	crash	Apteligent
    hockeyapp.net	crash	HockeyApp (Microsoft)
    honeybadger.io	crash	Honeybadger
    instabug.com	crash	Instabug (Luciq)
    luciq.ai	crash	Luciq
    raygun.com	crash	Raygun
    raygun.io	crash	Raygun
    rollbar.com	crash	Rollbar
    sentry.io	crash	Sentry
    shakebugs.com	crash	Shake
    trackjs.com	crash	TrackJS
    appdynamics.com	rum	AppDynamics (Cisco)
    applicationinsights.azure.com	rum	Microsoft Application Insights
    browser-intake-datadoghq.com	rum	Datadog
    browser-intake-datadoghq.eu	rum	Datadog
    datadoghq.com	rum	Datadog
    datadoghq.eu	rum	Datadog
    dc.services.visualstudio.com	rum	Microsoft Application Insights
    dynatrace.com	rum	Dynatrace
    emb-api.com	rum	Embrace
    embrace.io	rum	Embrace
    eum-appdynamics.com	rum	AppDynamics (Cisco)
    firebaseperfusagemetrics.googleapis.com	rum	Google (Firebase Performance)
    grafana.net	rum	Grafana Cloud
    honeycomb.io	rum	Honeycomb
    instana.io	rum	IBM Instana
    newrelic.com	rum	New Relic
    nr-data.net	rum	New Relic
    signalfx.com	rum	Splunk Observability
    betterstackdata.com	logs	Better Stack
    coralogix.com	logs	Coralogix
    loggly.com	logs	SolarWinds Loggly
    logtail.com	logs	Better Stack
    logz.io	logs	Logz.io
    papertrailapp.com	logs	SolarWinds Papertrail
    sumologic.com	logs	Sumo Logic
    appsee.com	session-replay	Appsee
    clarity.ms	session-replay	Microsoft Clarity
    clicktale.net	session-replay	Contentsquare (Clicktale)
    contentsquare.com	session-replay	Contentsquare
    contentsquare.net	session-replay	Contentsquare
    crazyegg.com	session-replay	Crazy Egg
    decibelinsight.net	session-replay	Medallia
    foresee.com	session-replay	Verint
    fullstory.com	session-replay	Fullstory
    glassboxdigital.io	session-replay	Glassbox
    hotjar.com	session-replay	Hotjar (Contentsquare)
    hotjar.io	session-replay	Hotjar (Contentsquare)
    inspectlet.com	session-replay	Inspectlet
    kampyle.com	session-replay	Medallia
    logrocket.io	session-replay	LogRocket
    lr-in.com	session-replay	LogRocket
    lr-ingest.io	session-replay	LogRocket
    luckyorange.com	session-replay	Lucky Orange
    luckyorange.net	session-replay	Lucky Orange
    mouseflow.com	session-replay	Mouseflow
    openreplay.com	session-replay	OpenReplay
    quantummetric.com	session-replay	Quantum Metric
    sessioncam.com	session-replay	SessionCam
    smartlook.cloud	session-replay	Smartlook (Cisco)
    smartlook.com	session-replay	Smartlook (Cisco)
    testfairy.com	session-replay	TestFairy (Sauce Labs)
    uxcam.com	session-replay	UXCam
    appboy.com	engagement	Braze
    apptentive.com	engagement	Alchemer (Apptentive)
    asnapieu.com	engagement	Airship
    attentivemobile.com	engagement	Attentive
    batch.com	engagement	Batch
    braze.com	engagement	Braze
    braze.eu	engagement	Braze
    clevertap-prod.com	engagement	CleverTap
    clevertap.com	engagement	CleverTap
    customer.io	engagement	Customer.io
    exponea.com	engagement	Bloomreach
    helpshift.com	engagement	Helpshift
    intercom.io	engagement	Intercom
    iterable.com	engagement	Iterable
    klaviyo.com	engagement	Klaviyo
    kumulos.com	engagement	Kumulos
    leanplum.com	engagement	Leanplum (CleverTap)
    moengage.com	engagement	MoEngage
    onesignal.com	engagement	OneSignal
    pushwoosh.com	engagement	Pushwoosh
    sailthru.com	engagement	Sailthru
    swrve.com	engagement	Swrve
    urbanairship.com	engagement	Airship
    useinsider.com	engagement	Insider
    webengage.com	engagement	WebEngage
    wzrkt.com	engagement	CleverTap
    adcolony.com	ads	AdColony (Digital Turbine)
    adnxs.com	ads	Microsoft Xandr
    alb.reddit.com	ads	Reddit
    amazon-adsystem.com	ads	Amazon Ads
    analytics-sg.tiktok.com	ads	TikTok
    analytics.tiktok.com	ads	TikTok
    analytics.twitter.com	ads	X
    applovin.com	ads	AppLovin
    applvn.com	ads	AppLovin
    bat.bing.com	ads	Microsoft Advertising
    bidmachine.io	ads	BidMachine
    business-api.tiktok.com	ads	TikTok
    chartboost.com	ads	Chartboost
    connect.facebook.net	ads	Meta
    criteo.com	ads	Criteo
    criteo.net	ads	Criteo
    ct.pinterest.com	ads	Pinterest
    doubleclick.net	ads	Google
    everesttech.net	ads	Adobe Advertising
    googleadservices.com	ads	Google
    googlesyndication.com	ads	Google
    graph.facebook.com	ads	Meta (app events share this host with login)
    inmobi.com	ads	InMobi
    liftoff.io	ads	Liftoff
    mintegral.com	ads	Mintegral
    moatads.com	ads	Oracle Moat
    mopub.com	ads	MoPub
    outbrain.com	ads	Outbrain
    pangleglobal.com	ads	Pangle (ByteDance)
    pubmatic.com	ads	PubMatic
    px.ads.linkedin.com	ads	LinkedIn
    rayjump.com	ads	Mintegral
    rubiconproject.com	ads	Magnite
    smaato.net	ads	Smaato
    supersonicads.com	ads	Unity ironSource
    taboola.com	ads	Taboola
    tapjoy.com	ads	Tapjoy
    tr.snapchat.com	ads	Snap
    unityads.unity3d.com	ads	Unity Ads
    vungle.com	ads	Liftoff (Vungle)
    bit.ly	shortener	Bitly
    bitly.com	shortener	Bitly
    bl.ink	shortener	BL.INK
    buff.ly	shortener	Buffer
    cutt.ly	shortener	Cuttly
    dub.co	shortener	Dub
    dub.sh	shortener	Dub
    fb.me	shortener	Meta
    goo.gl	shortener	Google
    is.gd	shortener	is.gd
    lnkd.in	shortener	LinkedIn
    ow.ly	shortener	Hootsuite
    rb.gy	shortener	Rebrandly
    rebrand.ly	shortener	Rebrandly
    s.id	shortener	s.id
    short.io	shortener	Short.io
    shorturl.at	shortener	ShortURL
    snip.ly	shortener	Sniply
    t.co	shortener	X
    t.ly	shortener	T.LY
    tiny.cc	shortener	Tiny
    tinyurl.com	shortener	TinyURL
    trib.al	shortener	SocialFlow
    urlgeni.us	shortener	URLgenius
    v.gd	shortener	is.gd
    anrdoezrs.net	redirector	CJ Affiliate
    awin1.com	redirector	Awin
    dpbolvw.net	redirector	CJ Affiliate
    href.li	redirector	Automattic
    jdoqocy.com	redirector	CJ Affiliate
    kqzyfj.com	redirector	CJ Affiliate
    l.facebook.com	redirector	Meta
    l.instagram.com	redirector	Meta
    linksynergy.com	redirector	Rakuten Advertising
    list-manage.com	redirector	Mailchimp click tracking
    lm.facebook.com	redirector	Meta
    out.reddit.com	redirector	Reddit
    prf.hn	redirector	Partnerize
    pxf.io	redirector	impact.com
    redirectingat.com	redirector	Skimlinks (Taboola)
    safelinks.protection.outlook.com	redirector	Microsoft Safe Links
    sendgrid.net	redirector	Twilio SendGrid click tracking
    shareasale.com	redirector	ShareASale (Awin)
    sjv.io	redirector	impact.com
    skimresources.com	redirector	Skimlinks (Taboola)
    tkqlhce.com	redirector	CJ Affiliate
    urldefense.com	redirector	Proofpoint
    urldefense.proofpoint.com	redirector	Proofpoint
    viglink.com	redirector	Sovrn
    embed.ly	link-preview	Embedly
    iframe.ly	link-preview	Iframely
    iframely.com	link-preview	Iframely
    linkpreview.net	link-preview	LinkPreview
    microlink.io	link-preview	Microlink
    opengraph.io	link-preview	OpenGraph.io
    """
